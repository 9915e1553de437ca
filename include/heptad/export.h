/* SPDX-License-Identifier: BSD-3-Clause
 * What the shared library shows; everything else is hidden. */
#ifndef HEPTAD_EXPORT_H
#define HEPTAD_EXPORT_H

#define HEPTAD_API __attribute__((visibility("default")))
#endif
