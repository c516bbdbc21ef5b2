"""Chinese readings of numbers."""

from __future__ import annotations

import functools
import re
from typing import Any

_DIGITS = "零一二三四五六七八九"
#: words that make a lone 2 两: 两个, 两点, 两公里; never 二月, 二号, 二楼, 第二
MEASURES = (
    "个|名|只|条|张|块|片|本|件|杯|碗|岁|天|年(?!级)|周|次|种|位|人|分钟|小时|秒|米|里|公里|厘米|"
    "斤|公斤|克|吨|升|元|万|千|亿|美元|倍|辆|架|艘|套|双|对|把|支|根|颗|粒|瓶|箱|口|头|匹|下|遍|"
    "声|句|步|场|集|部|点|平方|立方|摄氏度|度|港元|欧元|英镑|毫|家|间|栋|座|扇|滴|封|份|门|盏"
)
_MEASURE = re.compile(MEASURES)
_LONGEST = 12  #: digits; longer ones are names, said digit by digit


@functools.cache
def _cn2an() -> Any:
    import cn2an  # noqa: PLC0415 - only a voice needs it

    return cn2an


def digits(number: str, *, phone: bool = False) -> str:
    """Digit by digit: 2026 -> 二零二六; phone numbers say 幺 for 1."""
    said = "".join(_DIGITS[int(ch)] for ch in number)
    return said.replace("一", "幺") if phone else said


def cardinal(number: str) -> str:
    """An amount: 2300 -> 两千三百, 3.50 -> 三点五零, 007 -> 零零七."""
    whole, _, parts = number.partition(".")
    if len(whole) > _LONGEST or (len(whole) > 1 and whole[0] == "0"):
        said = digits(whole)
    else:
        said = str(_cn2an().an2cn(whole))
        said = re.sub(r"(?:^|(?<=[万亿]))二(?=[千万亿])", "两", said)
    return said + ("点" + digits(parts) if parts else "")


def counted(number: str, following: str) -> str:
    """An amount before a measure word: 2 before 个 is 两."""
    if number == "2" and _MEASURE.match(following):
        return "两"
    return cardinal(number)
