# SPDX-License-Identifier: BSD-3-Clause
"""Every relative link of a page leads to a file, and every page is reached from the README. Usage: links.py SOURCE"""
import os
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
folders = [".", "docs", "python", "bench", "algorithms"]
pages = {page for folder in folders for page in (source / folder).glob("*.md")}
broken, targets = [], {}
for page in pages:
    links = re.findall(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)", page.read_text())
    found = {link: pathlib.Path(os.path.normpath(page.parent / link)) for link in links if ":" not in link}
    broken += [f"{page.relative_to(source)}: {link} leads nowhere" for link, file in found.items() if not file.exists()]
    targets[page] = set(found.values())

reached, next_ones = set(), {source / "README.md"}
while next_ones:
    reached |= next_ones
    next_ones = {file for page in next_ones for file in targets[page] if file in pages} - reached
unreached = [f"no page leads to {page.relative_to(source)}" for page in pages - reached]
print(f"{len(pages)} pages, {sum(map(len, targets.values()))} links")
print(*sorted(broken + unreached), sep="\n")
sys.exit(bool(broken or unreached))
