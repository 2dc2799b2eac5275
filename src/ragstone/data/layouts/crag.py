"""CRAG: questions whose answers are references, with the pages that a search found for each."""

from collections.abc import Mapping
from typing import Any

from ragstone.data.json_text import list_or_empty


def flat_crag(record: Mapping[str, Any]) -> dict[str, Any]:
    """Lay the record flat: the snippet of each page is a context, its address the id."""
    flat = {name: value for name, value in record.items() if name not in _NAMES}
    flat["question"] = record["query"]
    flat["reference"] = [record["answer"], *list_or_empty(record["alt_ans"])]
    if pages := list_or_empty(record.get("search_results")):
        flat["contexts"] = [
            {"id": page.get("page_url"), "text": page.get("page_snippet")}
            if isinstance(page, dict)
            else page
            for page in pages
        ]
    return flat


_NAMES = frozenset(("query", "answer", "alt_ans", "search_results"))
