"""The one estimate that is made of means, not of scores."""

import pytest

from ragstone import evaluate
from ragstone.data import cornwall


def test_it_is_the_harmonic_mean_of_its_components_estimates() -> None:
    name = 'ragas_harmonic(weights="faithfulness:1 context_precision:1")'
    run = evaluate(cornwall(), metrics=["faithfulness", "context_precision", name])
    found = {(e.metric, tuple(e.group.items())): e for e in run.estimate_list}
    for group in ((), (("system", "local_search"),)):
        one = found["faithfulness", group].value
        other = found["context_precision", group].value
        combined = found[name, group]
        assert one is not None
        assert other is not None
        assert combined.value == pytest.approx(2 * one * other / (one + other))
        assert combined.method == "cluster_bootstrap"
        assert combined.low is not None
        assert combined.high is not None
        assert combined.value is not None
        assert combined.low <= combined.value <= combined.high


def test_without_an_embedding_model_its_default_is_missing_and_says_which_part() -> None:
    run = evaluate(cornwall(), metrics=["ragas_harmonic"])
    assert run.estimate_list[0].value is None
    (reason,) = run.estimate_list[0].reasons
    assert reason == "answer_relevance: not_judged?kind=probes&by=model"
    assert run.estimate_list[0].reasons[reason] == 24
