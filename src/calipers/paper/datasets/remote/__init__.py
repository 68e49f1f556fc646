"""Files that are fetched when no folder has them.

- `homes`: where each file is published, and its checksum where that is known;
- `cache`: the folder that keeps what was fetched, and how it notices damage;
- `lock`: one process at a time;
- `transfer`: bytes from an address to a file, going on where it was cut;
- `download`: the source that puts these together.
"""
