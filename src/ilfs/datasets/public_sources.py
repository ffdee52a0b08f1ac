"""Public sources of the paper's data sets: addresses, formats, checksums and licences, best source first.

No address here has been tried: no server could be reached when the entries were written. Each entry says where its
address, its format and its checksum are stated (``known_from``). `ilfs.datasets.obtain` therefore verifies what it
downloads: published checksums of files, the counts in the registry, and the checksum of the values of our own files.
"""

from ilfs.datasets.spec import NOT_STATED, PublicFile, PublicSource

MIT_SCRIPTS = f"package MIT; the measurements: {NOT_STATED}"
GPL_PACKAGE = f"package GPL (>= 2); the measurements: {NOT_STATED}"
CC_BY = "CC BY 4.0"
GITHUB = "https://raw.githubusercontent.com"
DATAMICROARRAY_DATA = f"{GITHUB}/ramhiser/datamicroarray/master/data"
CRAN_COPY = f"{GITHUB}/cran"  # the read-only copy of CRAN on GitHub keeps every version of a package
ELVIRA = "https://leo.ugr.es/elvira/DBCRepository"
UCI_OLD = "https://archive.ics.uci.edu/ml/machine-learning-databases/dexter"
MNIST_SERVERS = (
    "https://storage.googleapis.com/cvdf-datasets/mnist",
    "https://ossci-datasets.s3.amazonaws.com/mnist",
    "http://yann.lecun.com/exdb/mnist",
)

COLON_VALUES = "6b8a5c72b08b51174d32f4a88bfb9957901441c6946c8c6b8a2d70f00c595d8b"
LEUKEMIA_VALUES = "93f4f239e035fef652081480158e4bd587d8ef32bb6f66365c3d6a34fecce0cd"
PROSTATE_VALUES = "30f319b98a586a801266a0cf9ca49a8aa2104e3971e5f774c414035acf8cd6da"
LYMPHOMA_VALUES = "4f487a0f6fd66ef0d2c5021085029b3e1a2c661842b2911b6e4ededbdea3466b"
LUNG_VALUES = "41b431ed8ae7ab8042e8c469f99c0183f564e631e0b9c491cb0e76c1633c02e6"
DEXTER_VALUES = "a7a4547dfbbbc4144e7e96837a3ac79648b07811900daf51eec12c3ad51d3520"
POLARITY_VALUES = "1958b5d1da869f2d85842468f8dc8a757e444832bfa5178d1af3f06573725e2e"


def _datamicroarray(data: str, class_sizes: tuple[int, ...], values: str) -> PublicSource:
    return PublicSource(
        title=f"R package datamicroarray, {data}.RData",
        converter="table",
        files=(PublicFile(f"{data}.RData", (f"{DATAMICROARRAY_DATA}/{data}.RData",)),),
        known_from="the list of files of the repository ramhiser/datamicroarray, and its scripts that write x and y",
        licence=MIT_SCRIPTS,
        class_sizes=class_sizes,
        values=values,
    )


def _openml(
    number: int, name: str, class_sizes: tuple[int, ...] | None, known_from: str, differs: str = ""
) -> PublicSource:
    return PublicSource(
        title=f"OpenML {number}, {name}",
        converter="table",
        files=(PublicFile(f"{name}.arff"),),
        known_from=known_from,
        openml=number,
        class_sizes=class_sizes,
        differs=differs,
    )


def _kent_ridge(
    archive: str,
    class_sizes: tuple[int, ...],
    *,
    values: str = "",
    leave_out: tuple[int, ...] = (),
    known_from: str = "the names of other archives on the same server; this one was not seen",
) -> PublicSource:
    return PublicSource(
        title=f"Kent Ridge repository (copy of the University of Granada), {archive.rpartition('/')[2]}",
        converter="kent_ridge",
        files=(PublicFile(archive.rpartition("/")[2], (f"{ELVIRA}/{archive}",)),),
        known_from=known_from,
        class_sizes=class_sizes,
        values=values,
        leave_out=leave_out,
    )


COLON = (
    _datamicroarray("alon", (22, 40), COLON_VALUES),
    PublicSource(
        title="CRAN plsgenomics, Colon.rda",
        converter="table",
        files=(
            PublicFile(
                "Colon.rda", (f"{CRAN_COPY}/plsgenomics/master/data/Colon.rda",), md5="39c9cea02c7015699f80871475e4f1e3"
            ),
        ),
        known_from="the package's list of MD5 sums, and its manual page: X 62 x 2000, Y 1 normal and 2 tumour",
        licence=GPL_PACKAGE,
        class_names=(("1", "n"), ("2", "t")),
        class_sizes=(22, 40),
        values=COLON_VALUES,
    ),
    _kent_ridge(
        "ColonTumor/ColonTumor.zip",
        (22, 40),
        values=COLON_VALUES,
        known_from="public code that downloads it; its classes are negative (tumour) and positive (normal)",
    ),
)

LEUKEMIA = (
    _datamicroarray("golub", (47, 25), LEUKEMIA_VALUES),
    _openml(1104, "leukemia", (47, 25), "public lists of OpenML data sets"),
)

PROSTATE = (
    PublicSource(
        title="CRAN spls, prostate.RData",
        converter="table",
        files=(
            PublicFile(
                "prostate.RData",
                (f"{CRAN_COPY}/spls/master/data/prostate.RData",),
                md5="30a6779405c7ce68b234fd083afaac8f",
            ),
        ),
        known_from="the package's list of MD5 sums, and its manual page: x 102 x 6033, y 0 normal and 1 tumour",
        licence=GPL_PACKAGE,
        class_names=(("0", "normal"), ("1", "tumor")),
        class_sizes=(50, 52),
        values=PROSTATE_VALUES,
    ),
    PublicSource(
        title="CRAN spls 2.3-2, the whole package",
        converter="package",
        files=(
            PublicFile(
                "spls_2.3-2.tar.gz",
                (
                    "https://cran.r-project.org/src/contrib/spls_2.3-2.tar.gz",
                    "https://cran.r-project.org/src/contrib/Archive/spls/spls_2.3-2.tar.gz",
                ),
            ),
        ),
        member="spls/data/prostate.RData",
        known_from="CRAN's scheme of addresses; the number of the version was not seen",
        licence=GPL_PACKAGE,
        class_names=(("0", "normal"), ("1", "tumor")),
        class_sizes=(50, 52),
        values=PROSTATE_VALUES,
    ),
)

LYMPHOMA = (
    _openml(
        1101,
        "lymphoma_2classes",
        (23, 22),
        "public lists of OpenML data sets, which give 45 x 4026 and 48.9 % in the smaller class",
        differs="none known: by public lists it has the paper's 45 samples, 4026 features and classes of 23 and 22; it "
        "has not been compared with the Kent Ridge file",
    ),
    _kent_ridge("DLBCL/DLBCL-Stanford.zip", (22, 23), values=LYMPHOMA_VALUES, leave_out=(3, 4)),
)

LUNG = (
    _datamicroarray("gordon", (150, 31), LUNG_VALUES),
    _kent_ridge("LungCancer/LungCancer-Harvard2.zip", (150, 31)),
)

GINA = (
    PublicSource(
        title="MNIST, paired to two-digit numbers",
        converter="mnist",
        files=(
            PublicFile(
                "train-images-idx3-ubyte.gz",
                tuple(f"{server}/train-images-idx3-ubyte.gz" for server in MNIST_SERVERS),
                sha256="440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            ),
            PublicFile(
                "train-labels-idx1-ubyte.gz",
                tuple(f"{server}/train-labels-idx1-ubyte.gz" for server in MNIST_SERVERS),
                sha256="3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            ),
        ),
        known_from="many public programs that download MNIST and verify these checksums",
        licence=f"MNIST: {NOT_STATED}",
        differs="not the original rows: which images the challenge paired is not published; also not the rows of the "
        "registered file, whose pairs were drawn by another program",
    ),
)

GINA_OPENML = (
    _openml(1038, "gina_agnostic", None, "the page of the data set on OpenML, as stored by a public archive"),
)

GINA_AUTOML = (
    _openml(
        41158, "gina", None, "public tables that list gina with 3153 x 970; the number itself was not seen in them"
    ),
)

DEXTER = (
    PublicSource(
        title="UCI, dexter.zip",
        converter="challenge",
        files=(PublicFile("dexter.zip", ("https://archive.ics.uci.edu/static/public/168/dexter.zip",)),),
        known_from="UCI's scheme of addresses; the number 168 was not seen",
        licence=CC_BY,
        class_sizes=(300, 300),
        values=DEXTER_VALUES,
    ),
    PublicSource(
        title="UCI, single files",
        converter="challenge",
        files=(
            PublicFile("dexter_train.data", (f"{UCI_OLD}/DEXTER/dexter_train.data",)),
            PublicFile("dexter_train.labels", (f"{UCI_OLD}/DEXTER/dexter_train.labels",)),
            PublicFile("dexter_valid.data", (f"{UCI_OLD}/DEXTER/dexter_valid.data",)),
            PublicFile("dexter_valid.labels", (f"{UCI_OLD}/dexter_valid.labels",)),
        ),
        known_from="public code that downloads these files",
        licence=CC_BY,
        class_sizes=(300, 300),
        values=DEXTER_VALUES,
    ),
    _openml(4136, "Dexter", (300, 300), "public lists of OpenML data sets"),
)

POLARITY = (
    PublicSource(
        title="NLTK's movie_reviews.zip",
        converter="reviews",
        files=(
            PublicFile("movie_reviews.zip", (f"{GITHUB}/nltk/nltk_data/gh-pages/packages/corpora/movie_reviews.zip",)),
        ),
        known_from="the description of the package in nltk_data (author and licence); the address is its usual one",
        licence=CC_BY,
        class_sizes=(1000, 1000),
        values=POLARITY_VALUES,
    ),
    PublicSource(
        title="Pang and Lee's review_polarity.tar.gz",
        converter="reviews",
        files=(
            PublicFile(
                "review_polarity.tar.gz",
                ("https://www.cs.cornell.edu/people/pabo/movie-review-data/review_polarity.tar.gz",),
            ),
        ),
        known_from="public code that downloads it",
        licence=NOT_STATED,
        class_sizes=(1000, 1000),
        values=POLARITY_VALUES,
    ),
)
