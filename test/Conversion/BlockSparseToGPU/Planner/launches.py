# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the launches of each function of a launch description: those of its fast kernels, and those of the fallback."""

import json
import sys


def launches(description, steps, branch):
    """Returns the launches of `steps`: of choices the branch `branch`, and of choices in it the first one."""
    found = []
    for step in steps:
        if "launch" in step:
            name = step["launch"]
            found.append(f"early {name}" if description["kernels"][name]["starts_early"] else name)
        elif "if" in step:
            found += launches(description, step[branch], "then")
    return found


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        description = json.load(file)
    for function in description["functions"]:
        for title, branch in ((function["name"], "then"), (f"{function['name']}, not aligned", "else")):
            print(f"{title}: {', '.join(launches(description, function['steps'], branch))}")


if __name__ == "__main__":
    main()
