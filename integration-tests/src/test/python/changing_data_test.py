"""The documented example of changing data, and boto3's own append. Run by ChangingDataIT."""

import random
import sys
import urllib.request
from pathlib import Path

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "docs" / "examples"))
from changing_data import Changes  # noqa: E402

ENDPOINT, SEED = sys.argv[1], int(sys.argv[2])
s3 = boto3.client(
    "s3", endpoint_url=ENDPOINT, region_name="us-east-1", config=Config(retries={"max_attempts": 0})
)
changes = Changes(ENDPOINT)
bucket = f"changing-{SEED % 1_000_000}"
whole = bytearray(random.Random(SEED).randbytes(200_000))


def get(key):
    return s3.get_object(Bucket=bucket, Key=key)["Body"].read()


def test_write_offset_bytes():
    size = 0
    for end in (0, 5, 16_384, 65_537, 200_000):
        if end > 0:
            put = s3.put_object(Bucket=bucket, Key="log", Body=bytes(whole[size:end]), WriteOffsetBytes=size)
            assert put["Size"] == end, put
            size = end
    assert get("log") == whole
    head = s3.head_object(Bucket=bucket, Key="log", ChecksumMode="ENABLED")
    assert head["ChecksumType"] == "FULL_OBJECT", head
    try:
        s3.put_object(Bucket=bucket, Key="log", Body=b"x", WriteOffsetBytes=5)
    except s3.exceptions.InvalidWriteOffset as error:
        assert error.response["ResponseMetadata"]["HTTPStatusCode"] == 400
        return
    except ClientError as error:
        raise AssertionError(error)
    raise AssertionError("no error")


def test_patch():
    s3.put_object(Bucket=bucket, Key="patch", Body=bytes(whole))
    expected = bytearray(whole)
    for offset, length in ((0, 1), (16_383, 2), (65_000, 40_000), (199_999, 70_000)):
        data = random.Random(SEED + offset).randbytes(length)
        answer = changes.patch(bucket, "patch", offset, data)
        assert answer.status_code == 200, answer.text
        expected[offset : offset + length] = data
        assert get("patch") == expected, f"patched {length} bytes at {offset}"
    etag = s3.head_object(Bucket=bucket, Key="patch")["ETag"]
    assert changes.patch(bucket, "patch", 0, b"x", **{"If-Match": etag}).status_code == 200
    assert changes.patch(bucket, "patch", 0, b"x", **{"If-Match": etag}).status_code == 412


def test_append():
    position = 0
    for data in (b"one", b"four", b"7"):
        answer = changes.append(bucket, "append", position, data)
        assert answer.status_code == 200, answer.text
        position = int(answer.headers["x-rgw-next-append-position"])
    assert get("append") == b"onefour7" and position == 8
    lost = changes.append(bucket, "append", 3, b"x")
    assert lost.status_code == 409 and b"PositionNotEqualToLength" in lost.content, lost.text
    assert lost.headers["x-rgw-next-append-position"] == "8"


def test_presigned():
    s3.put_object(Bucket=bucket, Key="url", Body=b"0123456789")

    def send(method, path, data, headers):
        url = changes.presigned(method, path, headers)
        request = urllib.request.Request(url, data=data, method=method, headers=headers)
        return urllib.request.urlopen(request)

    assert send("PATCH", f"/{bucket}/url", b"abc", {"Content-Range": "bytes 3-5/*"}).status == 200
    assert send("POST", f"/{bucket}/url?append&position=10", b"+1", {}).status == 200
    assert send("PUT", f"/{bucket}/url", b"+2", {"x-amz-write-offset-bytes": "12"}).status == 200
    assert get("url") == b"012abc6789+1+2"


def main():
    s3.create_bucket(Bucket=bucket)
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    for name, test in tests:
        print(name, flush=True)
        test()
    print(f"{len(tests)} passed")


main()
