# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""hidden.py FOLDER,FOLDER... -- COMMAND...

Runs a command that finds the folders empty. Other tests use them at the same time, so that they are
hidden from this process alone, by an empty file system in a mount namespace of its own. Where the
system allows no such namespace, the command runs with the folders as they are, and this says so.
"""

import subprocess
import sys

end = sys.argv.index("--")
folders, command = sys.argv[1].split(","), sys.argv[end + 1 :]
script = "for folder in $1; do mount -t tmpfs none $folder || exit 99; done; shift; exec \"$@\""
namespace = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
probe = subprocess.run(namespace + ["mount -t tmpfs none " + folders[0]], capture_output=True, text=True)
if probe.returncode != 0:
    print("note: the folders are not hidden: " + probe.stderr.strip(), file=sys.stderr)
    sys.exit(subprocess.run(command).returncode)
sys.exit(subprocess.run(namespace + [script, "sh", " ".join(folders)] + command).returncode)
