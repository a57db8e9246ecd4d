"""Versions of objects with boto3 and the aws cli. Run by VersioningIT: versioning_test.py ENDPOINT SEED."""

import json
import random
import sys

import boto3
import cli
from botocore.config import Config
from botocore.exceptions import ClientError

ENDPOINT, SEED = sys.argv[1], int(sys.argv[2])
bucket = f"versions-{SEED % 1_000_000}"
user = f"reader-{SEED % 1_000_000}"
MIB = 1024 * 1024


def client(service, keys=None):
    arguments = {}
    if keys:
        arguments = {
            "aws_access_key_id": keys["AccessKeyId"],
            "aws_secret_access_key": keys["SecretAccessKey"],
        }
    return boto3.client(
        service,
        endpoint_url=ENDPOINT,
        region_name="us-east-1",
        config=Config(retries={"max_attempts": 0}, signature_version="s3v4" if service == "s3" else None),
        **arguments,
    )


s3, iam = client("s3"), client("iam")


def content(length, salt=0):
    return random.Random(SEED + length + salt).randbytes(length)


def failure(code, status, call, **arguments):
    """The answer's headers."""
    try:
        call(**arguments)
    except ClientError as error:
        got = (error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"])
        assert got == (code, status), f"{got}, not {(code, status)}"
        return error.response["ResponseMetadata"]["HTTPHeaders"]
    raise AssertionError(f"no error, expected {code}")


def versioning(status):
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": status})
    assert s3.get_bucket_versioning(Bucket=bucket)["Status"] == status


def put(key, body):
    return s3.put_object(Bucket=bucket, Key=key, Body=body).get("VersionId", "null")


def get(key, version):
    answer = s3.get_object(Bucket=bucket, Key=key, VersionId=version)
    assert answer["VersionId"] == version
    return answer["Body"].read()


def rows(prefix=""):
    """Versions and markers of all pages: key, id, latest, marker."""
    found = []
    pages = s3.get_paginator("list_object_versions").paginate(
        Bucket=bucket, Prefix=prefix, PaginationConfig={"PageSize": 3}
    )
    for page in pages:
        for name in ("Versions", "DeleteMarkers"):
            for row in page.get(name, []):
                assert row["Owner"]["ID"]
                found.append((row["Key"], row["VersionId"], row["IsLatest"], name == "DeleteMarkers"))
    return found


def test_configuration():
    assert "Status" not in s3.get_bucket_versioning(Bucket=bucket)
    put("old", b"before")
    failure(
        "NotImplemented",
        501,
        s3.put_bucket_versioning,
        Bucket=bucket,
        VersioningConfiguration={"Status": "Enabled", "MFADelete": "Enabled"},
    )
    failure(
        "IllegalVersioningConfigurationException",
        400,
        s3.put_bucket_versioning,
        Bucket=bucket,
        VersioningConfiguration={},
    )
    versioning("Enabled")
    assert get("old", "null") == b"before"


def test_versions_of_all_sizes():
    """Each version stays what it was, whatever is written later."""
    sizes = (0, 1, 70_000, MIB + 1, 3 * MIB)
    ids = [put("sizes", content(size)) for size in sizes]
    assert len(set(ids)) == len(sizes)
    for size, version in zip(sizes, ids):
        assert get("sizes", version) == content(size), size
        head = s3.head_object(Bucket=bucket, Key="sizes", VersionId=version)
        assert head["ContentLength"] == size and head["VersionId"] == version
        if size > 10:
            part = s3.get_object(Bucket=bucket, Key="sizes", VersionId=version, Range=f"bytes=5-{size - 2}")
            assert part["Body"].read() == content(size)[5:-1]
    assert [row[1] for row in rows("sizes")] == ids[::-1]
    assert [row[2] for row in rows("sizes")] == [True] + [False] * (len(ids) - 1)


def test_markers():
    version = put("marked", b"x")
    deleted = s3.delete_object(Bucket=bucket, Key="marked")
    assert deleted["DeleteMarker"] is True
    marker = deleted["VersionId"]
    headers = failure("NoSuchKey", 404, s3.get_object, Bucket=bucket, Key="marked")
    assert headers["x-amz-delete-marker"] == "true" and headers["x-amz-version-id"] == marker
    headers = failure("404", 404, s3.head_object, Bucket=bucket, Key="marked")
    assert headers["x-amz-delete-marker"] == "true"
    headers = failure("MethodNotAllowed", 405, s3.get_object, Bucket=bucket, Key="marked", VersionId=marker)
    assert headers["allow"] == "DELETE" and "last-modified" in headers
    headers = failure("405", 405, s3.head_object, Bucket=bucket, Key="marked", VersionId=marker)
    assert headers["x-amz-version-id"] == marker
    assert get("marked", version) == b"x"
    assert "marked" not in [o["Key"] for o in s3.list_objects_v2(Bucket=bucket)["Contents"]]
    undeleted = s3.delete_object(Bucket=bucket, Key="marked", VersionId=marker)
    assert undeleted["DeleteMarker"] is True and undeleted["VersionId"] == marker
    assert s3.get_object(Bucket=bucket, Key="marked")["VersionId"] == version


def test_ids():
    version = put("ids", b"x")
    failure("InvalidArgument", 400, s3.get_object, Bucket=bucket, Key="ids", VersionId="no id")
    failure("NoSuchVersion", 404, s3.get_object, Bucket=bucket, Key="ids", VersionId="null")
    failure("NoSuchVersion", 404, s3.get_object, Bucket=bucket, Key="marked", VersionId=version)
    failure("InvalidArgument", 400, s3.list_object_versions, Bucket=bucket, VersionIdMarker=version)


def test_copies():
    first, second = put("copied", b"first"), put("copied", b"second")
    source = {"Bucket": bucket, "Key": "copied", "VersionId": first}
    restored = s3.copy_object(Bucket=bucket, Key="copied", CopySource=source)
    assert restored["CopySourceVersionId"] == first
    assert get("copied", restored["VersionId"]) == b"first"
    assert get("copied", second) == b"second"
    upload = s3.create_multipart_upload(Bucket=bucket, Key="parts")["UploadId"]
    part = s3.upload_part_copy(Bucket=bucket, Key="parts", UploadId=upload, PartNumber=1, CopySource=source)
    assert part["CopySourceVersionId"] == first
    parts = {"Parts": [{"PartNumber": 1, "ETag": part["CopyPartResult"]["ETag"]}]}
    done = s3.complete_multipart_upload(Bucket=bucket, Key="parts", UploadId=upload, MultipartUpload=parts)
    assert get("parts", done["VersionId"]) == b"first"


def test_suspended():
    kept = put("suspended", b"kept")
    versioning("Suspended")
    answer = s3.put_object(Bucket=bucket, Key="suspended", Body=b"null 1")
    assert "VersionId" not in answer
    put("suspended", b"null 2")
    assert get("suspended", "null") == b"null 2"
    assert get("suspended", kept) == b"kept"
    deleted = s3.delete_object(Bucket=bucket, Key="suspended")
    assert deleted["DeleteMarker"] is True and deleted["VersionId"] == "null"
    assert [row[1:] for row in rows("suspended")] == [("null", True, True), (kept, False, False)] or [
        row[1:] for row in rows("suspended")
    ] == [(kept, False, False), ("null", True, True)]
    failure("InvalidBucketState", 409, s3.put_object, Bucket=bucket, Key="old", Body=b"x", WriteOffsetBytes=6)
    versioning("Enabled")


def test_deletions_together():
    version = put("together", b"x")
    marked = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "together"}]})["Deleted"][0]
    assert marked["DeleteMarker"] is True and marked["Key"] == "together"
    objects = [{"Key": "together", "VersionId": v} for v in (version, marked["DeleteMarkerVersionId"])]
    answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": objects})
    assert "Errors" not in answer and len(answer["Deleted"]) == 2, answer
    assert rows("together") == []


def test_rights():
    """Who may read and delete objects may not read or delete versions."""
    iam.create_user(UserName=user)
    keys = iam.create_access_key(UserName=user)["AccessKey"]
    own = client("s3", keys)
    version = put("secret", b"old")
    put("secret", b"new")

    def allow(*actions):
        statement = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.put_user_policy(UserName=user, PolicyName="own", PolicyDocument=document)

    before = rows()
    named = {"Bucket": bucket, "Key": "secret", "VersionId": version}
    allow("s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:ListBucket")
    assert own.get_object(Bucket=bucket, Key="secret")["Body"].read() == b"new"
    failure("AccessDenied", 403, own.get_object, **named)
    failure("403", 403, own.head_object, **named)
    failure("AccessDenied", 403, own.delete_object, **named)
    failure("AccessDenied", 403, own.copy_object, Bucket=bucket, Key="stolen", CopySource=named)
    failure("AccessDenied", 403, own.list_object_versions, Bucket=bucket)
    failure(
        "AccessDenied",
        403,
        own.put_bucket_versioning,
        Bucket=bucket,
        VersioningConfiguration={"Status": "Suspended"},
    )
    many = own.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "secret", "VersionId": version}]})
    assert many["Errors"][0]["Code"] == "AccessDenied" and "Deleted" not in many
    assert rows() == before
    allow("s3:GetObjectVersion")
    assert own.get_object(**named)["Body"].read() == b"old"
    failure("AccessDenied", 403, own.get_object, Bucket=bucket, Key="secret")
    allow("s3:DeleteObjectVersion")
    own.delete_object(**named)
    assert len(rows("secret")) == 1
    iam.delete_user_policy(UserName=user, PolicyName="own")
    iam.delete_access_key(UserName=user, AccessKeyId=keys["AccessKeyId"])
    iam.delete_user(UserName=user)


def test_aws_cli():
    def aws(*arguments):
        done = cli.run(
            "--endpoint-url", ENDPOINT, "--region", "us-east-1", "s3api", *arguments, "--bucket", bucket
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout or "{}")

    version = aws("put-object", "--key", "cli")["VersionId"]
    marker = aws("delete-object", "--key", "cli")["VersionId"]
    listed = aws("list-object-versions", "--prefix", "cli")
    assert listed["Versions"][0]["VersionId"] == version and listed["DeleteMarkers"][0]["VersionId"] == marker
    assert aws("head-object", "--key", "cli", "--version-id", version)["ContentLength"] == 0
    assert aws("get-bucket-versioning")["Status"] == "Enabled"


def test_emptying_a_bucket():
    """Page by page, while each page is deleted before the next is asked for."""
    versioning("Suspended")
    for key in ("old", "sizes", "suspended"):
        put(key, b"null")
    versioning("Enabled")
    failure("BucketNotEmpty", 409, s3.delete_bucket, Bucket=bucket)
    boto3.resource("s3", endpoint_url=ENDPOINT, region_name="us-east-1").Bucket(bucket).objects.all().delete()
    failure("BucketNotEmpty", 409, s3.delete_bucket, Bucket=bucket)
    assert all(row[3] for row in rows() if row[2])
    boto3.resource("s3", endpoint_url=ENDPOINT, region_name="us-east-1").Bucket(bucket).object_versions.page_size(
        2
    ).delete()
    assert rows() == []
    s3.delete_bucket(Bucket=bucket)


def main():
    s3.create_bucket(Bucket=bucket)
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    for name, test in tests:
        print(name, flush=True)
        test()
    print(f"{len(tests)} passed")


main()
