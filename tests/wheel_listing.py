"""Build the wheel and compare its listing with the tree: it holds what the tree holds, no more, no less.

Run by `make wheel`; exits 1 and says what differs.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("schema", "loaders", "indexers", "queries", "evaluators")


def list_tree() -> set[str]:
    """The package's files as git knows them, under the names that the wheel gives them."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "src/pinakes", *PARTS]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = {name for name in listed.split("\0") if name and not (ROOT / name).is_symlink()}
    return {f"pinakes/{name.removeprefix('src/pinakes/')}" for name in files if (ROOT / name).is_file()}


def list_wheel() -> set[str]:
    """The files of a freshly built wheel, without its metadata."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, str(ROOT)]
        subprocess.run(command, check=True, capture_output=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            return {name for name in archive.namelist() if ".dist-info/" not in name}


def main() -> int:
    """Compare; 0 when the same."""
    tree, wheel = list_tree(), list_wheel()
    for name in sorted(tree - wheel):
        print(f"missing in the wheel: {name}")
    for name in sorted(wheel - tree):
        print(f"in the wheel alone: {name}")
    print(f"wheel: {len(wheel)} files, tree: {len(tree)} files")
    return 0 if tree == wheel else 1


if __name__ == "__main__":
    sys.exit(main())
