"""Work on all of an array of which a part is taken, by the text."""

from __future__ import annotations

import pytest

from gpuprof.rules.cell.cropped_work import cropped_work

CLASS = """
CROP, SIZE = 96, 256

def photometric(img, gamma):
    x = img.astype(np.float32) / 255.0
    x = np.power(x, gamma)
    return (x - MEAN) / STD

class Photos(Dataset):
    def __getitem__(self, i):
        photo = self.photos[i]
        x = photometric(photo, self.gamma)
        x = x[top:top + CROP, left:left + CROP]
        return torch.from_numpy(x.copy())
"""


def test_a_function_that_computes_element_by_element_before_the_part_is_taken() -> None:
    (found,) = cropped_work(CLASS)
    assert (found.call, found.name, found.kept, found.first) == ("photometric", "x", "x", 13)
    assert found.sources == ("photo", "self.gamma")
    assert found.lines == {5, 6, 7, 12}
    assert found.part == "top:top + CROP, left:left + CROP"
    assert found.width == 96


def body(*lines: str) -> str:
    return "def item(img, i, a, b):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("x = img / 255", "return x[:32]"), ({2}, 32)),
        (("return (img / 255)[:32]",), ({2}, 32)),
        (("return np.log(img)[a:a + 32]",), ({2}, 32)),
        (("y = img / 255", "z = np.sqrt(y)", "return z[:, a:b]"), ({2, 3}, None)),
        (("img = img.astype('f4')", "img -= 3", "img = img[10:42]", "return img"), ({2, 3}, 32)),
        (("x = np.log(img)", "print(i)", "return x[a:b].sum()"), ({2}, None)),
        (("x = np.log(img)", "return x[..., a:b]"), ({2}, None)),
        (("x = np.log(img)", "return x[None, a:b]"), ({2}, None)),
    ],
)
def test_ways_of_writing_it(lines: tuple[str, ...], expected: tuple[set[int], int | None]) -> None:
    (found,) = cropped_work(body(*lines))
    assert (set(found.lines), found.width) == expected


@pytest.mark.parametrize(
    "lines",
    [
        ("x = img[:32]", "x = np.log(x)", "return x"),  # in the right order
        ("x = np.log(img)", "m = x.mean()", "return x[:32] - m"),  # all of it is read
        ("x = np.log(img)", "y = x[:32]", "return y, x"),
        ("x = np.log(img)", "x = x - x.mean()", "return x[:32]"),  # its mean depends on all
        ("x = img @ img", "return x[:32]"),
        ("x = np.sort(img)", "return x[:32]"),
        ("x = filtered(img)", "return x[:32]"),  # of which nothing is known
        ("x = np.log(img)", "return x[x > 0]"),
        ("x = np.log(img)", "return x[i]"),
        ("x = np.log(img)", "return x[a:b, i]"),
        ("x = np.log(img)", "return x[a:b, 0]"),
        ("x = np.log(img)", "return x[:]"),
        ("x = img", "return x[:32]"),  # no work
        ("for k in range(3):", "    x = np.log(img)", "return x[:32]"),
        ("x = np.log(img)", "if a:", "    x = img", "return x[:32]"),
    ],
)
def test_what_needs_all_of_it_or_is_not_known(lines: tuple[str, ...]) -> None:
    assert cropped_work(body(*lines)) == ()


def test_a_function_with_more_than_elementwise_work_does_not_count() -> None:
    source = CLASS.replace("    return (x - MEAN) / STD", "    return (x - x.mean()) / STD")
    assert cropped_work(source) == ()


def test_a_text_that_is_none() -> None:
    assert cropped_work("x = (") == ()
