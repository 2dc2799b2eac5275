"""JUnit: a gate as XML that build servers read, one test case a requirement and system."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ragstone.decisions.gating.gate import Decided, GateResult
from ragstone.inert import xml

from .failing import Failing, FailingExample
from .figures import p_word
from .gate_words import estimate, example_lines, headline, needs, value_word


def junit(run: str, result: GateResult, examples: Failing) -> bytes:
    """One test suite, in UTF-8.

    A requirement that is broken is a ``failure``; so is an open one, of type ``cannot_tell``,
    for a build must not go on as if it held: a skipped test counts as passed. Missing scores
    are an ``error``, for then it was not measured.

    Args:
        run: What was decided on, the name of the suite.
        result: What came of it.
        examples: The worst examples of what does not pass.
    """
    cases = result.requirements
    counts = {
        "tests": len(cases),
        "failures": sum(one.decision in ("fail", "cannot_tell") for one in cases),
        "errors": sum(one.decision == "missing" for one in cases),
        "skipped": 0,
    }
    totals = {name: str(count) for name, count in counts.items()} | {"time": "0"}
    root = Element("testsuites", {"name": "ragstone gate", **totals})
    suite = SubElement(root, "testsuite", {"name": xml(f"ragstone gate {run}"), **totals})
    told = SubElement(suite, "properties")
    facts = {"decision": result.decision, "on": result.on, "level": f"{result.level:g}",
             "max_missing": f"{result.max_missing:g}"}  # fmt: skip
    for name, value in facts.items():
        SubElement(told, "property", {"name": name, "value": value})
    for place, one in enumerate(cases):
        _case(suite, one, examples.get(place, ()))
    SubElement(suite, "system-out").text = xml(
        "\n".join([f"{result.decision}: {headline(result)}", *result.notes])
    )
    indent(root)
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _case(suite: Element, one: Decided, examples: Sequence[FailingExample]) -> None:
    names = {"classname": f"ragstone.gate.{one.group['system']}", "name": one.text, "time": "0"}
    case = SubElement(suite, "testcase", {name: xml(value) for name, value in names.items()})
    if one.decision != "pass":
        tag = "error" if one.decision == "missing" else "failure"
        said = {"type": one.decision, "message": xml(_message(one))}
        outcome = SubElement(case, tag, said)
        lines = [line for example in examples for line in example_lines(example)]
        outcome.text = xml("\n".join([_message(one), *one.notes, *lines]))
    else:
        SubElement(case, "system-out").text = xml(_message(one))


def _message(one: Decided) -> str:
    """Why, with the figures."""
    p = p_word(one.p_adjusted)
    figures = [
        f"{value_word(one)} {estimate(one)}" if one.value is not None else "",
        f"n {one.n:,}",
        f"p broken {p}" if p else "",
        needs(one),
    ]
    return f"{one.reason}; {', '.join(filter(None, figures))}"
