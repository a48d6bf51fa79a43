from __future__ import annotations

from trigner.lab.studies.context import Parallelism, parallelism


def test_parallelism(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("trigner.lab.studies.context.available_cpus", lambda: 8)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    assert parallelism(jobs=None, threads=None, device="auto") == Parallelism(1, None, ("auto",))
    assert parallelism(jobs=3, threads=None, device="cpu") == Parallelism(3, 2, ("cpu",))
    assert parallelism(jobs=3, threads=1, device="cpu") == Parallelism(3, 1, ("cpu",))
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    two = Parallelism(2, 4, ("cuda:0", "cuda:1"))
    assert parallelism(jobs=None, threads=4, device="auto") == two
    assert parallelism(jobs=2, threads=4, device="cuda:1").devices == ("cuda:1",)
