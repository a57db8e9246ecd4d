"""What boto3 makes of the server. Run by Boto3IT: boto3_test.py ENDPOINT SEED."""

import base64
import hashlib
import io
import random
import sys
import urllib.error
import urllib.parse
import urllib.request

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError

ENDPOINT, SEED = sys.argv[1], int(sys.argv[2])
UNIT = 16 * 1024
STRIPE = 4 * UNIT
MIB = 1024 * 1024
ALGORITHMS = ("CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256", "SHA512", "XXHASH64", "XXHASH3", "XXHASH128")


def client(**config):
    return boto3.client(
        "s3",
        endpoint_url=ENDPOINT,
        region_name="us-east-1",
        config=Config(retries={"max_attempts": 0}, **config),
    )


s3 = client(s3={"addressing_style": "path"})
bucket = f"boto3-{SEED % 1_000_000}"


def content(length, salt=0):
    return random.Random(SEED + length + salt).randbytes(length)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def assert_error(code, status, call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        got = (error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"])
        assert got == (code, status), f"{got}, not {(code, status)}"
        return
    raise AssertionError(f"no error, expected {code}")


def test_sizes():
    for length in (0, 1, 5120, UNIT - 1, UNIT, UNIT + 1, STRIPE - 1, STRIPE, STRIPE + 1, MIB):
        data = content(length)
        key = f"size/{length}"
        put = s3.put_object(Bucket=bucket, Key=key, Body=data, Metadata={"length": str(length)})
        assert put["ETag"] == f'"{hashlib.md5(data).hexdigest()}"', put
        got = s3.get_object(Bucket=bucket, Key=key)
        assert got["ContentLength"] == length
        assert got["Metadata"] == {"length": str(length)}
        assert got["Body"].read() == data, f"{length} bytes differ"


def test_stream_of_unknown_origin():
    class Stream(io.RawIOBase):
        """A file-like body: botocore sends it chunked, with a trailing checksum."""

        def __init__(self, data):
            self.inner = io.BytesIO(data)

        def readable(self):
            return True

        def seekable(self):
            return True

        def seek(self, offset, whence=0):
            return self.inner.seek(offset, whence)

        def tell(self):
            return self.inner.tell()

        def readinto(self, buffer):
            return self.inner.readinto(buffer)

    data = content(300_001)
    s3.put_object(Bucket=bucket, Key="stream", Body=Stream(data))
    assert s3.get_object(Bucket=bucket, Key="stream")["Body"].read() == data


def test_checksums():
    data = content(50_000)
    for algorithm in ALGORITHMS:
        put = s3.put_object(Bucket=bucket, Key="sum", Body=data, ChecksumAlgorithm=algorithm)
        head = s3.head_object(Bucket=bucket, Key="sum", ChecksumMode="ENABLED")
        assert head[f"Checksum{algorithm}"] == put[f"Checksum{algorithm}"], (algorithm, put, head)
        got = s3.get_object(Bucket=bucket, Key="sum", ChecksumMode="ENABLED")
        assert got["Body"].read() == data
    # boto3 sends an MD5 only where it is given one.
    md5 = base64.b64encode(hashlib.md5(data).digest()).decode()
    assert s3.put_object(Bucket=bucket, Key="sum", Body=data, ChecksumMD5=md5)["ChecksumMD5"] == md5
    assert_error("BadDigest", 400, s3.put_object, Bucket=bucket, Key="sum", Body=data + b"1", ChecksumMD5=md5)
    for algorithm in ("SHA512", "XXHASH128"):
        upload = s3.create_multipart_upload(Bucket=bucket, Key="sums", ChecksumAlgorithm=algorithm)["UploadId"]
        part = {"PartNumber": 1, "UploadId": upload, "Bucket": bucket, "Key": "sums"}
        put = s3.upload_part(Body=data, ChecksumAlgorithm=algorithm, **part)
        name = f"Checksum{algorithm}"
        parts = {"Parts": [{"PartNumber": 1, "ETag": put["ETag"], name: put[name]}]}
        done = s3.complete_multipart_upload(Bucket=bucket, Key="sums", UploadId=upload, MultipartUpload=parts)
        assert done[name].endswith("-1") and done["ChecksumType"] == "COMPOSITE", done


def test_ranges():
    length = 3 * STRIPE + UNIT + 77
    data = content(length)
    s3.put_object(Bucket=bucket, Key="ranges", Body=data)
    for boundary in range(UNIT, length, UNIT):
        for first in (boundary - 1, boundary, boundary + 1):
            for last in (first, first + 1, min(length - 1, first + STRIPE)):
                got = s3.get_object(Bucket=bucket, Key="ranges", Range=f"bytes={first}-{last}")
                assert got["Body"].read() == data[first : last + 1], (first, last)
                assert got["ContentRange"] == f"bytes {first}-{last}/{length}"
    assert s3.get_object(Bucket=bucket, Key="ranges", Range="bytes=-9")["Body"].read() == data[-9:]
    assert_error("InvalidRange", 416, s3.get_object, Bucket=bucket, Key="ranges", Range=f"bytes={length}-")


def test_multipart_of_100_mib():
    data = content(100 * MIB)
    config = TransferConfig(multipart_threshold=8 * MIB, multipart_chunksize=16 * MIB, max_concurrency=4)
    s3.upload_fileobj(io.BytesIO(data), bucket, "large", Config=config)
    back = io.BytesIO()
    s3.download_fileobj(bucket, "large", back, Config=config)
    assert sha256(back.getvalue()) == sha256(data)
    s3.copy_object(Bucket=bucket, Key="large copy", CopySource={"Bucket": bucket, "Key": "large"})
    s3.delete_object(Bucket=bucket, Key="large")
    got = s3.get_object(Bucket=bucket, Key="large copy", Range="bytes=16777200-16777300")
    assert got["Body"].read() == data[16777200:16777301]


def test_managed_copy_uses_part_copies():
    data = content(20 * MIB)
    s3.put_object(Bucket=bucket, Key="part source", Body=data)
    config = TransferConfig(multipart_threshold=8 * MIB, multipart_chunksize=8 * MIB)
    s3.copy({"Bucket": bucket, "Key": "part source"}, bucket, "part copy", Config=config)
    assert sha256(s3.get_object(Bucket=bucket, Key="part copy")["Body"].read()) == sha256(data)


def test_listing():
    keys = [f"list/{i % 7}/{i:03d}" for i in range(130)]
    for key in keys:
        s3.put_object(Bucket=bucket, Key=key, Body=b"")
    pages = s3.get_paginator("list_objects_v2").paginate(
        Bucket=bucket, Prefix="list/", PaginationConfig={"PageSize": 50}
    )
    assert [o["Key"] for page in pages for o in page["Contents"]] == sorted(keys)
    grouped = s3.list_objects_v2(Bucket=bucket, Prefix="list/", Delimiter="/")
    assert [p["Prefix"] for p in grouped["CommonPrefixes"]] == [f"list/{i}/" for i in range(7)]
    result = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key} for key in keys]})
    assert len(result["Deleted"]) == len(keys) and "Errors" not in result


def test_presigned():
    signer = client(signature_version="s3v4", s3={"addressing_style": "path"})
    url = signer.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "by url"}, ExpiresIn=60)
    request = urllib.request.Request(url, data=b"presigned", method="PUT")
    assert urllib.request.urlopen(request).status == 200
    url = signer.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "by url"}, ExpiresIn=60)
    assert urllib.request.urlopen(url).read() == b"presigned"


def test_conditions_and_errors():
    s3.put_object(Bucket=bucket, Key="if", Body=b"1", IfNoneMatch="*")
    assert_error("PreconditionFailed", 412, s3.put_object, Bucket=bucket, Key="if", Body=b"2", IfNoneMatch="*")
    assert_error("NoSuchKey", 404, s3.get_object, Bucket=bucket, Key="absent")
    assert_error("NoSuchBucket", 404, s3.list_objects_v2, Bucket="absent-bucket")
    assert_error("404", 404, s3.head_object, Bucket=bucket, Key="absent")
    assert_error("BucketNotEmpty", 409, s3.delete_bucket, Bucket=bucket)
    eTag = s3.head_object(Bucket=bucket, Key="if")["ETag"]
    assert_error("304", 304, s3.get_object, Bucket=bucket, Key="if", IfNoneMatch=eTag)


def test_unsigned_payload():
    unsigned = client(s3={"addressing_style": "path", "payload_signing_enabled": False})
    unsigned.put_object(Bucket=bucket, Key="unsigned", Body=content(70_000))
    assert s3.get_object(Bucket=bucket, Key="unsigned")["Body"].read() == content(70_000)
    signed = client(s3={"addressing_style": "path", "payload_signing_enabled": True})
    signed.put_object(Bucket=bucket, Key="signed", Body=content(70_001))
    assert s3.get_object(Bucket=bucket, Key="signed")["Body"].read() == content(70_001)


def post_form(url, fields, data, name="name of the file.bin", headers={}):
    """As a browser: status, headers and body, redirects not followed."""
    boundary = "----FormBoundary" + hashlib.md5(data).hexdigest()
    parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in fields.items()]
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
    head += "Content-Type: application/x-not-looked-at\r\n\r\n"
    body = "".join(parts).encode() + head.encode() + data + f"\r\n--{boundary}--\r\n".encode()
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}", **headers}
    request = urllib.request.Request(url, data=body, headers=headers)

    class NoRedirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    try:
        with urllib.request.build_opener(NoRedirect).open(request) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def test_presigned_post():
    signer = client(signature_version="s3v4", s3={"addressing_style": "path"})
    fields = {
        "Content-Type": "image/png",
        "x-amz-meta-color": "blue",
        "tagging": "<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>",
        "success_action_status": "201",
    }
    conditions = [{k: v} for k, v in fields.items()] + [["content-length-range", 1, 3 * MIB]]
    post = signer.generate_presigned_post(bucket, "up/${filename}", dict(fields), list(conditions), ExpiresIn=100)
    for length in (1, STRIPE - 1, STRIPE, 3 * MIB):
        data = content(length)
        status, headers, body = post_form(post["url"], post["fields"], data)
        assert status == 201, (status, body)
        assert b"<Key>up/name of the file.bin</Key>" in body and b"<Bucket>" + bucket.encode() in body, body
        got = s3.get_object(Bucket=bucket, Key="up/name of the file.bin")
        assert got["Body"].read() == data, f"{length} bytes differ"
        assert got["ETag"] == headers["ETag"] == f'"{hashlib.md5(data).hexdigest()}"'
        assert got["ContentType"] == "image/png" and got["Metadata"] == {"color": "blue"}, got
        assert got["TagCount"] == 1
        s3.delete_object(Bucket=bucket, Key="up/name of the file.bin")
    refused = {
        "too large": (post["fields"], content(3 * MIB + 1), 400, b"EntityTooLarge"),
        "too small": (post["fields"], b"", 400, b"EntityTooSmall"),
        "another field": ({**post["fields"], "acl": "public-read"}, b"1", 403, b"AccessDenied"),
        "another key": ({**post["fields"], "key": "other"}, b"1", 403, b"AccessDenied"),
        "another type": ({**post["fields"], "Content-Type": "text/html"}, b"1", 403, b"AccessDenied"),
        "a wrong signature": ({**post["fields"], "x-amz-signature": "0" * 64}, b"1", 403, b"SignatureDoesNotMatch"),
        "no signature": ({"key": "k"}, b"1", 403, b"AccessDenied"),
    }
    for why, (changed, data, status, code) in refused.items():
        answer = post_form(post["url"], changed, data)
        assert answer[0] == status and code in answer[2], (why, answer)
    assert "Contents" not in s3.list_objects_v2(Bucket=bucket, Prefix="up/")


def test_post_to_a_virtual_host_and_redirect():
    target = "http://localhost/done?a=b"
    post = client(signature_version="s3v4").generate_presigned_post(
        bucket, "redirected", {"success_action_redirect": target}, [{"success_action_redirect": target}]
    )
    host = urllib.parse.urlsplit(ENDPOINT).netloc.replace("127.0.0.1", "localhost")
    status, headers, body = post_form(ENDPOINT + "/", post["fields"], b"1", headers={"Host": f"{bucket}.{host}"})
    etag = "%22" + hashlib.md5(b"1").hexdigest() + "%22"
    assert (status, headers["Location"]) == (303, f"{target}&bucket={bucket}&key=redirected&etag={etag}"), (status, body)
    assert s3.get_object(Bucket=bucket, Key="redirected")["Body"].read() == b"1"


def customer(byte, prefix=""):
    return {f"{prefix}SSECustomerAlgorithm": "AES256", f"{prefix}SSECustomerKey": bytes([byte]) * 32}


# How each mode is asked for, and what opens its objects.
MODES = {
    "plain": ({}, {}, {}),
    "s3": ({"ServerSideEncryption": "AES256"}, {}, {}),
    "kms": ({"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "it-2"}, {}, {}),
    "customer": (customer(7), customer(7), customer(7, "CopySource")),
    "other customer": (customer(8), customer(8), customer(8, "CopySource")),
}


def test_encryption():
    length = 3 * 64 * 1024 + 77
    data = content(length)
    for mode, (asked, opening, _) in MODES.items():
        put = s3.put_object(Bucket=bucket, Key=f"sealed/{mode}", Body=data, **asked)
        assert put.get("ServerSideEncryption") == asked.get("ServerSideEncryption"), put
        assert (put["ETag"] == f'"{hashlib.md5(data).hexdigest()}"') == (mode in ("plain", "s3")), (mode, put)
        head = s3.head_object(Bucket=bucket, Key=f"sealed/{mode}", **opening)
        assert head["ContentLength"] == length and head.get("SSEKMSKeyId") == asked.get("SSEKMSKeyId"), head
        for first in (0, 65535, 65536, length - 1):
            for last in (first, min(length - 1, first + 65536)):
                got = s3.get_object(Bucket=bucket, Key=f"sealed/{mode}", Range=f"bytes={first}-{last}", **opening)
                assert got["Body"].read() == data[first : last + 1], (mode, first, last)
        md5 = base64.b64encode(hashlib.md5(data).digest()).decode()
        s3.put_object(Bucket=bucket, Key="md5", Body=data, ContentMD5=md5, **asked)
        other = {"Bucket": bucket, "Key": "md5", "Body": data + b"1", "ContentMD5": md5}
        assert_error("BadDigest", 400, s3.put_object, **other, **asked)
    assert_error("InvalidRequest", 400, s3.get_object, Bucket=bucket, Key="sealed/customer")
    assert_error("InvalidArgument", 400, s3.get_object, Bucket=bucket, Key="sealed/customer", **customer(8))
    assert_error("InvalidRequest", 400, s3.get_object, Bucket=bucket, Key="sealed/s3", **customer(8))


def test_copies_between_all_kinds_of_encryption():
    data = content(3 * 64 * 1024 + 77)
    for source, (_, _, opening) in MODES.items():
        for target, (asked, opened, _) in MODES.items():
            key = f"copied/{source}/{target}"
            copy = {"Bucket": bucket, "CopySource": {"Bucket": bucket, "Key": f"sealed/{source}"}}
            s3.copy_object(Key=key, **copy, **opening, **asked)
            assert s3.get_object(Bucket=bucket, Key=key, **opened)["Body"].read() == data, key
            upload = s3.create_multipart_upload(Bucket=bucket, Key=key, **asked)["UploadId"]
            part = {"Key": key, "UploadId": upload, "PartNumber": 1}
            etag = s3.upload_part_copy(CopySourceRange="bytes=65000-70000", **part, **copy, **opening, **opened)
            parts = {"Parts": [{"PartNumber": 1, "ETag": etag["CopyPartResult"]["ETag"]}]}
            s3.complete_multipart_upload(Bucket=bucket, Key=key, UploadId=upload, MultipartUpload=parts)
            got = s3.get_object(Bucket=bucket, Key=key, **opened)["Body"].read()
            assert got == data[65000:70001], key


def test_encrypted_multipart_of_20_mib():
    data = content(20 * MIB)
    config = TransferConfig(multipart_threshold=8 * MIB, multipart_chunksize=8 * MIB, max_concurrency=3)
    for mode, (asked, opening, _) in MODES.items():
        s3.upload_fileobj(io.BytesIO(data), bucket, "large", ExtraArgs=asked, Config=config)
        back = io.BytesIO()
        s3.download_fileobj(bucket, "large", back, ExtraArgs=opening, Config=config)
        assert sha256(back.getvalue()) == sha256(data), mode
        second = s3.get_object(Bucket=bucket, Key="large", PartNumber=2, **opening)
        assert second["Body"].read() == data[8 * MIB : 16 * MIB], mode


def test_emptying_a_bucket():
    resource = boto3.resource("s3", endpoint_url=ENDPOINT, region_name="us-east-1")
    resource.Bucket(bucket).objects.all().delete()
    s3.delete_bucket(Bucket=bucket)
    assert bucket not in [b["Name"] for b in s3.list_buckets()["Buckets"]]


def main():
    s3.create_bucket(Bucket=bucket)
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    for name, test in tests:
        print(name, flush=True)
        test()
    print(f"{len(tests)} passed")


main()
