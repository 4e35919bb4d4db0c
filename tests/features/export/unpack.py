"""Undoes `peerlab.features.export.pack`, as the page does; for tests."""

import base64
import json
import re
import zlib
from html import unescape

import numpy as np


class Pack:
    """What a page carries."""

    def __init__(self, text):
        raw = zlib.decompress(base64.b64decode(text), -15)
        begin = 4 + int.from_bytes(raw[:4], "little")
        self.document, self.raw = json.loads(raw[4:begin]), raw[begin:]

    @classmethod
    def of(cls, page):
        return cls(re.search(r'id="pl-pack">([^<]*)<', unescape(page))[1])

    def whole(self, value):
        if isinstance(value, dict):
            if "$" in value:
                return self.whole(self.document["pool"][value["$"]])
            if "#" in value:
                unit, counts = self.document["columns"][value["#"]][3], self.counts(value["#"])
                return counts * unit if unit else counts
            return {key: self.whole(one) for key, one in value.items()}
        return [self.whole(one) for one in value] if isinstance(value, list) else value

    def counts(self, number):
        place, count, width, _, since = self.document["columns"][number]
        planes = np.frombuffer(self.raw, "u1", count * width, place).reshape(width, count).astype(np.int64)
        folded = sum(plane << (8 * at) for at, plane in enumerate(planes))
        differences = np.where(folded % 2, -(folded + 1) // 2, folded // 2)
        return np.cumsum(differences) if since < 0 else differences + self.counts(since)
