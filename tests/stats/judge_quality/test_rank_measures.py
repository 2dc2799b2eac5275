"""How well a score ranks positives above negatives."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from ragstone.core.errors import InputError
from ragstone.stats import auroc

ROWS = st.lists(st.tuples(st.integers(-4, 4), st.booleans()), min_size=1, max_size=60)


def test_pairs_in_order_by_hand() -> None:
    # Pairs: 3 > 1, 3 > 2, 2 > 1 in order, 2 = 2 half.
    assert auroc([3, 2, 2, 1], [True, True, False, False]) == pytest.approx(3.5 / 4)


@given(ROWS)
def test_auroc_is_that_of_scikit_learn(rows: list[tuple[int, bool]]) -> None:
    scores, positive = zip(*rows, strict=True)
    if len(set(positive)) == 1:
        assert auroc(scores, positive) is None
    else:
        assert auroc(scores, positive) == pytest.approx(roc_auc_score(positive, scores))


@example([0.1, 0.1, 0.1, 0.1, 0.2])
@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.6, 0.7, 0.9, 1]), min_size=5, max_size=5))
def test_no_weights_carry_it_beyond_its_ends(chances: list[float]) -> None:
    weights = [1 / chance for chance in chances]
    found = auroc([1, 2, 3, 4, 5], [False, False, True, True, True], weights=weights)
    assert found == pytest.approx(1)
    assert found is not None
    assert found <= 1


def test_wrong_input_is_refused() -> None:
    with pytest.raises(InputError, match="one shape"):
        auroc([1, 2], [True])
    with pytest.raises(InputError, match="finite"):
        auroc([1, float("nan")], [True, False])
    with pytest.raises(InputError, match="true or false"):
        auroc([1, 2], [0, 2])
