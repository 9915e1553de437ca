# SPDX-License-Identifier: BSD-3-Clause
"""python -m heptad bench: Heptad beside NumPy's own product."""

from __future__ import annotations

import argparse
import sys

from . import __version__, bench


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m heptad", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    bench.add_to(commands.add_parser("bench", help=bench.__doc__, description=bench.__doc__))
    arguments = parser.parse_args()
    try:
        arguments.run(arguments)
    except (OSError, ValueError, ImportError, MemoryError, RuntimeError) as problem:
        print(f"heptad: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
