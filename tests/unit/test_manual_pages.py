"""The pages of the manual: each is in the site's navigation and is led to from the first one."""

import re

from tests.documents import DOCUMENTS, MANUAL, ROOT, list_links

FIRST = ROOT / "docs" / "index.md"


def test_every_page_is_in_the_navigation_once() -> None:
    _, _, nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")
    told = [
        page for page in re.findall(r"- (\S+\.md)$", nav, re.MULTILINE) if not page.startswith("project/")
    ]
    here = [path.relative_to(ROOT / "docs").as_posix() for path in DOCUMENTS if ROOT / "docs" in path.parents]
    assert sorted(told) == sorted(page for page in here if not page.startswith("decisions/"))


def test_the_first_page_leads_to_every_page_of_the_manual() -> None:
    led = {(FIRST.parent / link.partition("#")[0]).resolve() for link in list_links(FIRST)}
    assert set(MANUAL) - {FIRST} - led == set()


def test_no_two_headings_of_a_page_have_one_address() -> None:
    for path in MANUAL:
        text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        assert len(headings) == len({heading.lower() for heading in headings}), path
        assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1, path
