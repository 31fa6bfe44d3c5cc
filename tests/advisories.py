"""Ask the published advisories about the versions in constraints.txt; where there are none, say so and pass.

Run by `make audit`; exits 1 where a version has a known vulnerability. pip-audit passes too where an index
answers and knows no advisories, so a version that is known to have some is asked about first.
"""

import importlib.util
import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

CONSTRAINTS = Path(__file__).resolve().parents[1] / "constraints.txt"
KNOWN = "https://pypi.org/pypi/jinja2/3.1.2/json"
"""a version with advisories"""
PROBE_S, AUDIT_S = 5, 180


def has_advisories(url: str = KNOWN) -> bool:
    """Whether the index answers within seconds, and with advisories."""
    try:
        with urllib.request.urlopen(url, timeout=PROBE_S) as answer:
            return bool(json.load(answer).get("vulnerabilities"))
    except (OSError, ValueError, AttributeError):
        return False


def run_pip_audit(constraints: Path) -> str:
    """What pip-audit says of the pinned versions, as JSON; empty where it came to no end."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(constraints), "--no-deps"]
    command += ["--disable-pip", "--format", "json", "--progress-spinner", "off", "--timeout", "10"]
    try:
        return subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True, timeout=AUDIT_S).stdout
    except subprocess.TimeoutExpired:
        return ""


def judge(answer: str) -> tuple[int, list[str]]:
    """The exit code and the lines to print for what pip-audit said."""
    try:
        packages: list[dict[str, Any]] = json.loads(answer)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return 0, ["audit: skipped, pip-audit came to no end"]
    found = [
        f"{package['name']} {package['version']}: {one['id']}, mended in {' '.join(one['fix_versions'])}"
        for package in packages
        for one in package.get("vulns", [])
    ]
    unknown = [package["name"] for package in packages if "skip_reason" in package]
    passed = f"audit: {len(packages) - len(unknown)} versions asked about, {len(found)} known vulnerabilities"
    skipped = [f"audit: not known to the index: {', '.join(unknown)}"] if unknown else []
    return int(bool(found)), [*found, passed, *skipped]


def main() -> int:
    """Ask, and print what was found; 0 where nothing was, or nobody could be asked."""
    if importlib.util.find_spec("pip_audit") is None:
        print("audit: skipped, pip-audit is not installed (it is in the extra dev)")
        return 0
    if not has_advisories():
        print("audit: skipped, no index of advisories can be reached")
        return 0
    code, lines = judge(run_pip_audit(CONSTRAINTS))
    print("\n".join(lines))
    return code


if __name__ == "__main__":
    sys.exit(main())
