"""Side by side: several batches at once, and the processor left as it was."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from threadpoolctl import ThreadpoolController

from ragstone.models.encoder import one_blas_thread, side_by_side


def blas_threads() -> list[int]:
    pools = ThreadpoolController().info()
    return [pool["num_threads"] for pool in pools if pool["user_api"] == "blas"]


def test_inside_a_product_takes_one_thread_and_afterwards_as_many_as_before() -> None:
    before = blas_threads()
    with one_blas_thread():
        assert set(blas_threads()) <= {1}
        with one_blas_thread():
            pass
        assert set(blas_threads()) <= {1}
    assert blas_threads() == before


def test_the_last_to_leave_restores_it_in_whatever_order_they_leave() -> None:
    before = blas_threads()
    met = threading.Barrier(2)

    def inside() -> None:
        with one_blas_thread():
            met.wait(timeout=10)

    with ThreadPoolExecutor(2) as pool:
        for one in [pool.submit(inside) for _ in range(2)]:
            one.result()
    assert blas_threads() == before


def test_it_is_restored_where_the_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    before = blas_threads()
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        list(side_by_side(lambda number: 1 // number, [1, 0, 1]))
    assert blas_threads() == before


def test_results_come_in_the_order_of_the_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert list(side_by_side(lambda number: number**2, range(50))) == [n**2 for n in range(50)]
