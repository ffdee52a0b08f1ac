import pytest

from ilfs.memory import bytes_of, free_bytes, free_in_cgroups


@pytest.mark.parametrize(
    ("limit", "n_bytes"), [(5, 5), ("500MB", 500_000_000), ("2 GiB", 2**31), ("1.5kb", 1500), ("7", 7)]
)
def test_a_limit_is_text_or_a_number(limit, n_bytes):
    assert bytes_of(limit) == n_bytes


def test_the_default_is_a_fraction_of_the_free_memory():
    assert 0 < bytes_of(None) < free_bytes() * 1.1


def test_every_control_group_may_have_a_limit(tmp_path):
    inner = tmp_path / "jobs" / "job-1"
    inner.mkdir(parents=True)
    for folder, limit, used, cached in ((tmp_path / "jobs", 1000, 300, 50), (inner, 900, 100, 0)):
        (folder / "memory.max").write_text(f"{limit}\n")
        (folder / "memory.current").write_text(f"{used}\n")
        (folder / "memory.stat").write_text(f"anon 5\ninactive_file {cached}\n")
    (tmp_path / "own").write_text("0::/jobs/job-1\n")
    assert sorted(free_in_cgroups(tmp_path, tmp_path / "own"))[:2] == [750, 800]


def test_without_control_groups_there_is_no_limit(tmp_path):
    assert min(free_in_cgroups(tmp_path, tmp_path / "none")) == 2**63 - 1
