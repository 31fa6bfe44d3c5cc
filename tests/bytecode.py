"""Bytecode of every module of the project, made once on all cores: `make test` starts with it.

Else each worker of pytest would make all of it, at the same time as the others: ten seconds of each.
"""

import compileall
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from _pytest.assertion.rewrite import PYC_TAIL, _rewrite_test, _write_pyc_fp, get_cache_dir

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Make what is missing or out of date."""
    modules = sorted((ROOT / "tests").rglob("*.py"))
    rewritten = [path for path in modules if path.name == "conftest.py" or path.name.startswith("test_")]
    with ProcessPoolExecutor() as pool:
        for made in pool.map(rewrite, rewritten, chunksize=8):
            assert made.is_file()
    # Parts of the package are links to folders beside src/, into which compileall does not go.
    links = (path.resolve() for path in (ROOT / "src" / "pinakes").iterdir() if path.is_symlink())
    for folder in (ROOT / "src", ROOT / "tests", *links):
        compileall.compile_dir(folder, quiet=2, workers=0)


def rewrite(module: Path) -> Path:
    """The file where pytest looks for the bytecode of a test module, which has its own `assert`."""
    folder = get_cache_dir(module)
    folder.mkdir(exist_ok=True)
    kept = folder / f"{module.stem}{PYC_TAIL}"
    digest, code = _rewrite_test(module, None)  # type: ignore[arg-type]  # which has no hook for asserts
    part = kept.with_name(f"{kept.name}.{os.getpid()}")
    with part.open("wb") as file:
        _write_pyc_fp(file, digest, code)
    part.replace(kept)
    return kept


if __name__ == "__main__":
    main()
