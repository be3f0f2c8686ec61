import gzip
from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms import problems
from dpbounds.algorithms.problems import datasets
from dpbounds.errors import InvalidValue

TABLE = "height,width,kind\n1.0,10,cat\n2.0,20,dog\n3.0,30,cat\n"


@pytest.fixture
def table(tmp_path):
    def write(text, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return write


def test_breast_cancer_has_its_records_classes_and_bound():
    data = problems.breast_cancer()
    assert data.features.shape == (569, 31)
    assert ((data.labels == 1).sum(), (data.labels == -1).sum()) == (212, 357)
    assert data.feature_names[0] == "mean radius"
    assert data.feature_names[-1] == "intercept"
    assert data.positive == "malignant"
    for row in data.features[::50]:
        assert sum(Fraction(float(entry)) ** 2 for entry in row) <= 1


def test_breast_cancer_ranges_are_those_printed_in_its_documentation():
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    printed = {}
    for line in bunch.DESCR.splitlines():
        name, separator, values = line.partition("):")
        if separator and len(values.split()) == 2:
            printed[f"{name.strip()})"] = tuple(float(value) for value in values.split())
    assert len(printed) == 30
    spelled = {"(mean)": "mean {}", "(standard error)": "{} error", "(worst)": "worst {}"}
    for label, ends in printed.items():
        feature, _, kind = label.partition(" (")
        assert datasets._BREAST_CANCER_RANGES[spelled[f"({kind}"].format(feature)] == ends


def test_breast_cancer_scaling_maps_ranges_to_plus_minus_one_before_clipping():
    from sklearn.datasets import load_breast_cancer

    wide = problems.breast_cancer(feature_bound=1000)
    assert np.abs(wide.features).max() < 1.1  # printed ends are rounded to three digits, so a little over is possible
    raw = load_breast_cancer().data[:, 0]
    assert wide.features[:, 0] == pytest.approx((raw - (6.981 + 28.11) / 2) / ((28.11 - 6.981) / 2), rel=1e-12)


def test_preparing_one_record_does_not_depend_on_the_others(table):
    first = problems.read_csv(table(TABLE))
    second = problems.read_csv(table(TABLE.replace("3.0,30", "-7e5,1")))
    assert (first.features[:2] == second.features[:2]).all()


def test_breast_cancer_feeds_a_problem_whose_clipping_changes_nothing():
    data = problems.breast_cancer()
    problem = problems.sigmoid_loss(data.features, data.labels, feature_bound=data.feature_bound)
    assert (problem.signed_features == data.features * data.labels[:, None]).all()


def test_csv_defaults_to_the_last_column_and_says_what_was_done(table):
    data = problems.read_csv(table(TABLE), feature_bound=100)
    assert data.labels.tolist() == [-1, 1, -1]
    assert data.features.tolist() == [[1, 10, 1], [2, 20, 1], [3, 30, 1]]
    assert data.positive == "kind = dog"
    assert any("no public ranges were given" in note for note in data.notes)
    assert any("label dog is +1 and cat is -1" in note for note in data.notes)
    assert "3 records" in str(data)


def test_csv_gzip_label_by_name_positive_and_ranges(table):
    path = table("kind,height\n1,0\n2,5\n7,10\n7,20\n", "data.csv.gz")
    ranges = table("lower,feature,upper\n0,height,10\n", "ranges.csv")
    data = problems.read_csv(path, label="kind", positive=7, ranges=ranges, feature_bound=10, intercept=False)
    assert data.labels.tolist() == [-1, -1, 1, 1]
    assert data.features.tolist() == [[-1], [0], [1], [3]]
    assert any("public range becomes [-1, 1]" in note for note in data.notes)


def test_csv_rows_are_clipped_one_at_a_time(table):
    data = problems.read_csv(table(TABLE), feature_bound=5)
    assert np.linalg.norm(data.features, axis=1) == pytest.approx([5, 5, 5], rel=1e-13)
    assert data.features[0, 1] / data.features[0, 0] == pytest.approx(10)


def test_numeric_labels_are_compared_as_numbers(table):
    data = problems.read_csv(table("a,y\n1,9\n2,10\n3,9.0\n"), positive="9")
    assert data.labels.tolist() == [1, -1, 1]


def test_quoted_fields_and_a_byte_order_mark_are_read(table):
    data = problems.read_csv(table('\ufeff"a","the kind"\r\n1,"x, y"\r\n2,z\r\n'))
    assert data.feature_names == ("a", "intercept")
    assert data.positive == "the kind = z"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        *(
            (TABLE.replace("20", wrong), {}, "column 'width' must be .*, not the value of record 2")
            for wrong in ("tall", "", "nan", "inf")
        ),
        (TABLE, {"label": "sort"}, "label must be .*height, width, kind.*, not 'sort'"),
        (TABLE, {"label": "height"}, "column 'kind' must be .*, not the value of record 1"),
        (TABLE, {"positive": "cow"}, "positive must be .*cat, dog.*, not 'cow'"),
        (TABLE.replace("2.0,20,dog", "2.0,20,cow\n1,1,dog"), {}, "exactly two values.*positive"),
        (TABLE.replace("dog", "cat"), {}, "exactly two values"),
        (TABLE.replace("dog", "cat"), {"positive": "cat"}, "at least two values"),
        (TABLE.replace("dog", ""), {}, "none in record 2"),
        (TABLE.replace("2.0,20,dog", "2.0,20"), {}, "line 3 .* must be .*, not 2 fields"),
        (TABLE.replace("height", "width"), {}, "each once"),
        ("1,2,3\n4,5,6\n", {}, "column names, not numbers"),
        ("a,b\n", {}, "at least one record"),
        ("", {}, "at least one record"),
        ("kind\ncat\ndog\n", {}, "at least one feature"),
        (TABLE, {"feature_bound": 0}, "feature_bound must be .*, not 0"),
        ('a,b\n"1,2\n', {}, "a CSV file"),
    ],
)
def test_csv_errors_name_what_is_wrong(table, text, options, message):
    with pytest.raises(InvalidValue, match=message):
        problems.read_csv(table(text), **options)


SECRETS = [f"{secret}.{secret}" for secret in range(7001, 7040)]
RECORDS = "\n".join(f"{one},{one}" for one in SECRETS)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (f"{RECORDS}\n", {}),  # a line of names was forgotten
        (f"x,x\n{RECORDS}\n", {}),
        (f"{SECRETS[0]},{SECRETS[0]},\n{RECORDS}\n", {}),
        (f"a,b\n{RECORDS}\n", {}),
        (f"a,b\n{RECORDS}\n", {"positive": "1"}),
        (f"a,b\n{RECORDS}\n{SECRETS[0]}\n", {}),
        (f"a,b\n{SECRETS[0]}x,1\n{SECRETS[1]},2\n", {}),
        (f"a,b\n{SECRETS[0]}e999,1\n{SECRETS[1]},2\n", {}),
        (f'a,b\n"{SECRETS[0]}"x,1\n', {}),
    ],
)
def test_errors_quote_no_measurement(table, text, options):
    with pytest.raises(InvalidValue) as told:
        problems.read_csv(table(text), **options)
    assert not any(secret in str(told.value) for secret in SECRETS)


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ("feature,lower,upper\nheight,0,1\n", "no range for width"),
        ("feature,lower,upper\nheight,0,1\nwidth,5,5\n", "range of 'width'.*lower < upper"),
        ("feature,lower,upper\nheight,0,1\nwidth,0,inf\n", "range of 'width'"),
        ("feature,lower,upper\nheight,0,1\nheight,0,1\n", "given once"),
        ("feature,lower,upper\ndepth,0,1\n", "height, width, not 'depth'"),
        ("feature,low,upper\nheight,0,1\n", "feature, lower, upper"),
    ],
)
def test_ranges_errors_name_what_is_wrong(table, ranges, message):
    with pytest.raises(InvalidValue, match=message):
        problems.read_csv(table(TABLE), ranges=table(ranges, "ranges.csv"))


def test_unreadable_files_are_refused(tmp_path, table):
    with pytest.raises(InvalidValue, match="No such file"):
        problems.read_csv(tmp_path / "absent.csv")
    with pytest.raises(InvalidValue, match="this is a directory"):
        problems.read_csv(tmp_path)
    broken = tmp_path / "broken.csv.gz"
    broken.write_bytes(gzip.compress(TABLE.encode())[:20])
    with pytest.raises(InvalidValue, match="readable CSV"):
        problems.read_csv(broken)
    latin = tmp_path / "latin.csv"
    latin.write_bytes("größe,y\n1,a\n2,b\n".encode("latin-1"))
    with pytest.raises(InvalidValue, match="UTF-8"):
        problems.read_csv(latin)


def test_labels_of_equal_value_are_one_label(table):
    with pytest.raises(InvalidValue, match="exactly two values"):
        problems.read_csv(table("a,y\n1,1\n2,1.0\n3,1\n"))
    data = problems.read_csv(table("a,y\n1,1\n2,1.0\n3,0\n4,0.0\n"))
    assert list(data.labels) == [1, 1, -1, -1]


def test_what_a_range_scales_beyond_all_numbers_is_refused(table):
    ranges = table("feature,lower,upper\na,0,1e-20\n", "ranges.csv")
    with pytest.raises(InvalidValue, match=r"feature 'a' must be .*, not the value of record 2"):
        problems.read_csv(table("a,y\n1e-21,0\n1e300,1\n"), ranges=ranges)
