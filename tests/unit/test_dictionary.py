"""The data dictionary is that of the schema."""

from pinakes.schema import metadata
from tests import dictionary


def test_the_page_is_made_from_the_schema() -> None:
    assert dictionary.PAGE.read_text(encoding="utf-8") == dictionary.render(), (
        "run `python -m tests.dictionary`"
    )


def test_every_table_is_in_an_area() -> None:
    listed = [table.name for tables in dictionary.list_areas().values() for table in tables]
    assert sorted(listed) == sorted(metadata.tables)
