# SPDX-License-Identifier: BSD-3-Clause
"""The part of a page that a script writes: between `<!-- NAME: generated ... -->` and `<!-- end of NAME -->`."""
import re


def update(page, name, text, check=False):
    """Replaces what is there, unless it is only checked. Returns whether that was something else."""
    present = page.read_text()
    part = re.compile(f"(<!-- {name}: generated.*?-->\n).*?(<!-- end of {name} -->)", re.S)
    written, count = part.subn(lambda m: m[1] + (text + "\n" if text else "") + m[2], present)
    if count != 1:
        raise SystemExit(f"{page}: {count} generated parts {name}, not one")
    if not check:
        page.write_text(written)
    return written != present
