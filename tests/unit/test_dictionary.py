"""The data dictionary is that of the schema."""

from pinakes.schema import metadata
from tests import dictionary
from tests.made_pages import read_pages


def test_the_page_is_made_from_the_schema() -> None:
    assert read_pages(dictionary.FOLDER) == dictionary.render(), "run `python -m tests.dictionary`"


def test_every_table_is_in_an_area() -> None:
    listed = [table.name for tables in dictionary.list_areas().values() for table in tables]
    assert sorted(listed) == sorted(metadata.tables)
