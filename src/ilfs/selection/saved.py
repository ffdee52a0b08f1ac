"""Selections that were saved to a file, for use on other tables, other computers and without the method itself."""

import os
from copy import copy
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ilfs.selected_columns.blocks import columns_of_table
from ilfs.selection_files import read_selection
from ilfs.selector import RankingSelector


class Selection(RankingSelector):
    """A selection of features that is fixed: it transforms tables, but cannot be fitted.

    `ilfs.load` makes it from a file that ``save`` of any selector has written. Like scikit-learn's ``FrozenEstimator``,
    it may be a step of a pipeline: ``fit`` does nothing, and a clone is the selection itself.

    Where both have names, the columns of a table are found by name. They may then be in any order, beside other
    columns; only the selected ones must be there. Otherwise the table must have the columns of the fit, in their order.

    Attributes
    ----------
    method_ : str
        Class name of the selector that was saved.
    parameters_ : dict
        Its parameters. Those that are no numbers, text or lists of them are given as text.
    version_ : str
        Version of ilfs that has written the file.
    scores_, ranking_, order_ : ndarray of shape (n_features,)
        As those of the selector, to the last bit.
    p_values_, q_values_ : ndarray of shape (n_features,)
        If the selector had them.
    classes_ : ndarray of shape (n_classes,)
        Class labels, if the selector had them.
    target_name_ : str
        Column that the labels were taken from, if it had a name. ``transform`` leaves it out.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if they had any.

    See Also
    --------
    ilfs.load : Read a selection from a file.
    ilfs.apply : Write the selected columns of a file to another file.
    """

    _reads_labels = False
    _columns: dict[str, NDArray[Any]]
    _selected: NDArray[np.int64]

    def __init__(self) -> None:
        pass

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> Self:
        """Make a selection of the fields of a file."""
        one = cls()
        one.method_, one.parameters_, one.version_ = fields["method"], fields["parameters"], fields["ilfs_version"]
        one.n_features_in_, one.scores_, one.order_ = fields["n_features"], fields["scores"], fields["order"]
        one.ranking_ = np.empty_like(one.order_)
        one.ranking_[one.order_] = np.arange(1, one.order_.size + 1)
        one._selected, one._columns = fields["selected"], fields["columns"]
        optional = {
            "feature_names_in_": fields["feature_names"],
            "target_name_": fields["target"],
            "classes_": fields["classes"],
            "p_values_": one._columns.get("p_value"),
            "q_values_": one._columns.get("q_value"),
        }
        for name, value in optional.items():
            if value is not None:
                setattr(one, name, np.array(value, dtype=object) if name == "feature_names_in_" else value)
        return one

    def fit(self, X: Any = None, y: Any = None) -> Self:  # noqa: ARG002
        """Do nothing: the selection is fixed.

        Parameters
        ----------
        X, y : object, optional
            Ignored.

        Returns
        -------
        Selection
            Itself.
        """
        check_is_fitted(self)
        return self

    def transform(self, X: Any) -> Any:
        """Keep the selected features of X.

        Parameters
        ----------
        X : array, data frame, sparse matrix or any other table that ``fit`` of a selector takes
            If both have names, columns are found by name, in any order and beside others; only the selected ones must
            be there. Otherwise X must have the columns of the fit, in their order.

        Returns
        -------
        array, data frame or sparse matrix of shape (n_samples, n_selected)
            The selected columns, in the order in which ``fit`` has seen them. For a table that is not in memory, a
            table of the same kind.
        """
        check_is_fitted(self)
        if not self._selected.size or not hasattr(self, "feature_names_in_") or not is_frame(X):
            return super().transform(X)
        return super(Selection, self._narrowed()).transform(columns_of_table(X, self._column_choice(), "X"))

    def _narrowed(self) -> Self:
        """Return a selection of all columns of a table that has only the selected ones."""
        one = copy(self)
        one.n_features_in_, one.feature_names_in_ = self._selected.size, self.feature_names_in_[self._selected]
        one._selected = np.arange(self._selected.size)
        return one

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self._selected] = True
        return mask

    def _further_columns(self, names: NDArray[Any]) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        return self._columns

    def _check_parameters(self) -> None:
        """Do nothing: there are no parameters."""

    def _description(self) -> tuple[str, dict[str, Any]]:
        return self.method_, self.parameters_

    def __sklearn_clone__(self) -> Self:
        return self

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        if not hasattr(self, "order_"):
            return "Selection()"
        return f"<Selection: {self._selected.size:,} of {self.n_features_in_:,} features by {self.method_}>"


def load(path: str | os.PathLike[str]) -> Selection:
    """Read a selection that ``save`` of a selector has written.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    Selection
        It transforms tables and has the names, the order and the scores of the features. The method itself is not
        needed, and no code is read from the file.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_wine
    >>> import ilfs
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = ilfs.FisherScore(n_features_to_select=2).fit(X, y)
    >>> path = tempfile.mkdtemp() + "/wine.json"
    >>> selector.save(path)
    >>> selection = ilfs.load(path)
    >>> selection
    <Selection: 2 of 13 features by FisherScore>
    >>> list(selection.get_feature_names_out())
    ['flavanoids', 'proline']
    >>> selection.transform(X[["proline", "hue", "flavanoids"]]).shape
    (178, 2)
    """
    return Selection._from_fields(read_selection(path))


def is_frame(X: Any) -> bool:
    """Check if X is a data frame in memory."""
    return isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame)
