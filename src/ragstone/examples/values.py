"""Values: reads ids and texts of a record and checks their types."""

from ragstone.examples.problem import Problem, shown

TEXT_KEYS = ("text", "content", "page_content", "context", "passage")
"""Keys under which an object has its text."""


def read_id(value: object, field: str, problems: list[Problem]) -> str | None:
    """An id as text, even if given as an integer; None if there is none."""
    if value is None:
        return None
    if type(value) is str and value:
        return value
    if type(value) is int and value.bit_length() <= 128:
        return str(value)
    expected = "text or a whole number" if value != "" else "a name or nothing"
    problems.append(Problem(field, expected, "an empty text" if value == "" else shown(value)))
    return None


def read_texts(value: object, field: str, problems: list[Problem]) -> tuple[str, ...]:
    """One text or several; empty ones are dropped."""
    if value is None:
        return ()
    if type(value) is str:
        return (value,) if value else ()
    if not isinstance(value, list):
        problems.append(Problem(field, "a text or a list of texts", shown(value)))
        return ()
    texts = []
    for index, one in enumerate(value):
        if isinstance(one, dict) and field != "reference":
            one = next((one[key] for key in TEXT_KEYS if key in one), one)
        if type(one) is not str:
            problems.append(Problem(f"{field}[{index}]", "a text", shown(one)))
        elif one:
            texts.append(one)
    return tuple(texts)


def are_texts(value: object) -> bool:
    """Whether it is a text, or a list of texts or of objects that may have one."""
    if isinstance(value, str):
        return True
    return isinstance(value, list) and all(
        isinstance(one, str) or (isinstance(one, dict) and not one.keys() & {"id", "grade"})
        for one in value
    )


def not_text(field: str, value: object) -> Problem:
    """The problem that a value is not text."""
    return Problem(field, "text", shown(value))
