"""Progress reported to scikit-learn's callbacks, and fits with a scikit-learn that has none."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from helpers import needs_callbacks, planted

from ilfs import METHODS, SVMRFE, FisherScore, callbacks


def two_labels():
    """A table, and an indicator matrix of two labels."""
    X, y = planted(n_samples=60, n_features=12, n_classes=4)
    return X, np.column_stack([y % 2, y // 2])


class Recorder:
    """A callback that notes the path of task names at every call."""

    def __init__(self, stop_at=None):
        self.setups = self.teardowns = 0
        self.begun, self.ended = [], []
        self.stop_at = stop_at

    def setup(self, estimator, context):
        self.setups += 1

    def teardown(self, estimator, context):
        self.teardowns += 1

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(path_of(context))

    def on_fit_task_end(self, estimator, context):
        self.ended.append(path_of(context))
        return self.ended[-1] == self.stop_at


class PropagatedRecorder(Recorder):
    """A `Recorder` that scikit-learn propagates to the sub-estimators of the estimator that it is set on."""

    max_propagation_depth = None


def path_of(context):
    """Names of the tasks from the whole fit to this one.

    The fit of a sub-estimator is also a task of the estimator outside, so it has two names.
    """
    name = context.task_name if context.source_task_name is None else f"{context.source_task_name}={context.task_name}"
    return name if context.parent is None else f"{path_of(context.parent)}/{name}"


def private_state(selector):
    return [name for name in vars(selector) if name.startswith("_") and name != "_skl_callbacks"]


@needs_callbacks
class TestProgress:
    def test_steps_are_subtasks_of_the_fit(self):
        X, y = planted(n_samples=60, n_features=5)
        recorder = Recorder()
        SVMRFE().set_callbacks(recorder).fit(X, y)
        assert recorder.begun == ["fit"] + ["fit/elimination"] * 4
        assert recorder.ended == ["fit/elimination"] * 4 + ["fit"]
        assert recorder.setups == recorder.teardowns == 1

    def test_a_fit_without_a_loop_is_one_task(self):
        X, y = planted()
        recorder = Recorder()
        FisherScore().set_callbacks(recorder).fit(X, y)
        assert recorder.begun == recorder.ended == ["fit"]

    def test_the_steps_of_every_label_are_subtasks_of_that_label(self):
        X, Y = two_labels()
        recorder = PropagatedRecorder()
        fitted = SVMRFE().set_callbacks(recorder).fit(X, Y)
        assert recorder.begun == ["fit"] + 2 * (["fit/label=fit"] + ["fit/label=fit/elimination"] * 11)
        assert sorted(recorder.ended) == sorted(recorder.begun)
        assert recorder.setups == recorder.teardowns == 1
        np.testing.assert_array_equal(fitted.order_, SVMRFE().fit(X, Y).order_)

    def test_a_callback_that_is_not_propagated_sees_one_task_per_label(self):
        X, Y = two_labels()
        recorder = Recorder()
        SVMRFE().set_callbacks(recorder).fit(X, Y)
        assert recorder.begun == ["fit", "fit/label", "fit/label"]
        assert recorder.ended == ["fit/label", "fit/label", "fit"]
        assert recorder.setups == recorder.teardowns == 1

    @pytest.mark.parametrize("recorder", [Recorder("fit/label"), PropagatedRecorder("fit/label=fit")])
    def test_a_callback_may_stop_the_fit_after_a_label(self, recorder):
        X, Y = two_labels()
        fitted = SVMRFE().set_callbacks(recorder).fit(X, Y)
        assert list(fitted.per_label_) == [0]
        assert sorted(recorder.ended) == sorted(recorder.begun)
        np.testing.assert_array_equal(fitted.order_, SVMRFE().fit(X, Y[:, 0]).order_)

    def test_the_folds_of_the_rule_auto_follow_the_ranking(self):
        X, y = planted(n_samples=60, n_features=5)
        recorder = PropagatedRecorder()
        fitted = SVMRFE("auto").set_callbacks(recorder).fit(X, y)
        eliminations = ["fit/ranking/elimination"] * 4
        assert recorder.begun == ["fit", "fit/ranking", *eliminations] + ["fit/fold"] * 5
        assert recorder.ended == [*eliminations, "fit/ranking"] + ["fit/fold"] * 5 + ["fit"]
        assert recorder.setups == recorder.teardowns == 1
        assert fitted.n_features_ == SVMRFE("auto").fit(X, y).n_features_
        assert private_state(fitted) == []

    def test_the_folds_follow_a_ranking_without_a_loop_and_one_of_several_labels(self):
        X, Y = two_labels()
        recorder = Recorder()
        FisherScore("auto").set_callbacks(recorder).fit(X, Y[:, 0])
        assert recorder.ended == ["fit/ranking"] + ["fit/fold"] * 5 + ["fit"]
        recorder = PropagatedRecorder()
        fitted = SVMRFE("auto").set_callbacks(recorder).fit(X, Y)
        labels = 2 * (["fit/ranking/label=fit/elimination"] * 11 + ["fit/ranking/label=fit"])
        assert recorder.ended == [*labels, "fit/ranking"] + ["fit/fold"] * 5 + ["fit"]
        assert [private_state(one) for one in (fitted, *fitted.per_label_.values())] == [[], [], []]

    def test_a_callback_may_stop_the_folds(self):
        X, y = planted(n_samples=60, n_features=5)
        recorder = Recorder("fit/fold")
        fitted = FisherScore("auto").set_callbacks(recorder).fit(X, y)
        assert recorder.ended == ["fit/ranking", "fit/fold", "fit"]
        assert [name for name in fitted.cv_results_ if name.startswith("split")] == ["split0_test_score"]
        assert fitted.get_support().sum() == fitted.n_features_

    @pytest.mark.parametrize("task", ["fit/ranking", "fit/fold"])
    def test_an_interrupt_in_a_fold_leaves_the_selector_unfitted(self, task):
        class Interrupting(Recorder):
            def on_fit_task_end(self, estimator, context):
                super().on_fit_task_end(estimator, context)
                if path_of(context) == task:
                    raise KeyboardInterrupt

        X, y = planted(n_samples=60, n_features=5)
        recorder = Interrupting()
        selector = FisherScore("auto").set_callbacks(recorder)
        with pytest.raises(KeyboardInterrupt):
            selector.fit(X, y)
        assert recorder.ended[-1] == task
        assert recorder.ended.count("fit/fold") <= 1
        assert not hasattr(selector, "order_")
        assert private_state(selector) == []
        assert selector.set_callbacks().fit(X, y).n_features_ == FisherScore("auto").fit(X, y).n_features_

    def test_a_progress_bar_over_labels_ends_its_threads(self):
        # A bar that is not torn down keeps Python from exiting.
        script = (
            "from sklearn.callback import ProgressBar; from ilfs import SVMRFE; import numpy as np;"
            "X = np.random.default_rng(0).normal(size=(40, 6));"
            "SVMRFE().set_callbacks(ProgressBar()).fit(X, (X[:, :2] > 0).astype(int))"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
        assert done.stdout.count("label") == 2


@pytest.mark.parametrize("labels", ["one", "two"])
def test_a_fitted_selector_has_no_progress_attributes(labels):
    X, Y = two_labels()
    fitted = SVMRFE().fit(X, Y[:, 0] if labels == "one" else Y)
    assert [private_state(selector) for selector in [fitted, *getattr(fitted, "per_label_", {}).values()]] == (
        [[]] if labels == "one" else [[], [], []]
    )
    assert pickle.loads(pickle.dumps(fitted)).order_.tolist() == fitted.order_.tolist()


def test_a_failed_fit_leaves_no_progress_attributes(monkeypatch):
    def fail(*_):
        raise RuntimeError("no weights")

    X, y = planted()
    selector = SVMRFE()
    monkeypatch.setattr("ilfs.methods.svm_rfe.batch_sizes", lambda *_: map(fail, [0]))
    with pytest.raises(RuntimeError, match="no weights"):
        selector.fit(X, y)
    assert private_state(selector) == []


def test_the_wrapper_for_callbacks_is_built_once(monkeypatch):
    def fail(method):
        raise AssertionError("with_callbacks was called during a fit")

    monkeypatch.setattr(callbacks, "with_callbacks", fail)
    X, y = planted()
    assert FisherScore(3).fit(X, y).get_support().sum() == 3


# scikit-learn 1.9 and newer import sklearn.callback themselves, so the modules that are needed must be imported before
# it is hidden.
WITHOUT_CALLBACKS = """
import sys, warnings
import numpy as np, sklearn.ensemble, sklearn.feature_selection, sklearn.linear_model, sklearn.pipeline
sys.modules["sklearn.callback"] = None
warnings.simplefilter("ignore")
from ilfs import METHODS, SVMRFE
from ilfs.callbacks import CallbackSupportMixin, NoCallbacksMixin
assert CallbackSupportMixin is NoCallbacksMixin
with np.load(sys.argv[1]) as table:
    X, Y = table["X"], table["Y"]
for name, method in METHODS.items():
    print(name, *method().fit(X, Y[:, 0]).order_)
print("labels", *SVMRFE().fit(X, Y).order_)
SVMRFE().set_callbacks().fit(X, Y)
SVMRFE().set_callbacks("bar")
"""


@pytest.mark.filterwarnings("ignore")
def test_without_callbacks_in_scikit_learn_every_method_ranks_the_same(tmp_path):
    X, Y = two_labels()
    np.savez(tmp_path / "table.npz", X=X, Y=Y)
    command = [sys.executable, "-c", WITHOUT_CALLBACKS, str(tmp_path / "table.npz")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    orders = {name: [int(column) for column in order] for name, *order in map(str.split, done.stdout.splitlines())}
    expected = {name: method().fit(X, Y[:, 0]).order_.tolist() for name, method in METHODS.items()}
    assert orders == expected | {"labels": SVMRFE().fit(X, Y).order_.tolist()}
    assert done.stderr.splitlines()[-1].startswith("ImportError: callbacks need scikit-learn 1.9 or newer, found 1.")
