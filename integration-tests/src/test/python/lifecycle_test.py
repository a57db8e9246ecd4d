"""Lifecycle rules with boto3 and the aws cli, in a store whose days have 2 s and which has the class STANDARD_IA.

Run by StorageClassIT: lifecycle_test.py ENDPOINT SEED.
"""

import json
import random
import sys
import time

import boto3
import cli
from botocore.config import Config
from botocore.exceptions import ClientError

ENDPOINT, SEED = sys.argv[1], int(sys.argv[2])
BUCKET = f"lifecycle-{SEED % 1_000_000}"
LIMIT_SECONDS = 120

s3 = boto3.client(
    "s3",
    endpoint_url=ENDPOINT,
    region_name="us-east-1",
    config=Config(retries={"max_attempts": 0}, signature_version="s3v4"),
)


def aws(*arguments):
    done = cli.run("--endpoint-url", ENDPOINT, "--region", "us-east-1", "s3api", *arguments)
    assert done.returncode == 0, f"{arguments}: {done.stdout}\n{done.stderr}"
    return json.loads(done.stdout) if done.stdout else {}


def until(what, is_so):
    """Waits for what a scan is to do."""
    end = time.monotonic() + LIMIT_SECONDS
    while not is_so():
        assert time.monotonic() < end, f"not so after {LIMIT_SECONDS} s: {what}"
        time.sleep(0.3)


def keys(bucket):
    return [each["Key"] for each in s3.list_objects_v2(Bucket=bucket).get("Contents", [])]


def versions(bucket):
    page = s3.list_object_versions(Bucket=bucket)
    return len(page.get("Versions", [])), len(page.get("DeleteMarkers", []))


def test_rules_by_the_cli():
    """Put, read and deleted as they were given."""
    rules = {
        "Rules": [
            {"ID": "old form", "Prefix": "logs/", "Status": "Enabled", "Expiration": {"Days": 30}},
            {
                "ID": "all",
                "Status": "Disabled",
                "Filter": {
                    "And": {
                        "Prefix": "p/",
                        "Tags": [{"Key": "k", "Value": "v"}],
                        "ObjectSizeGreaterThan": 10,
                        "ObjectSizeLessThan": 1000,
                    }
                },
                "Expiration": {"Days": 90},
                "Transitions": [{"Days": 30, "StorageClass": "STANDARD_IA"}],
                "NoncurrentVersionTransitions": [{"NoncurrentDays": 5, "StorageClass": "STANDARD_IA"}],
                "NoncurrentVersionExpiration": {"NoncurrentDays": 7, "NewerNoncurrentVersions": 3},
            },
        ]
    }
    aws("create-bucket", "--bucket", BUCKET)
    aws("put-bucket-lifecycle-configuration", "--bucket", BUCKET, "--lifecycle-configuration", json.dumps(rules))
    read = aws("get-bucket-lifecycle-configuration", "--bucket", BUCKET)
    assert read["Rules"] == rules["Rules"], read
    assert s3.get_bucket_lifecycle_configuration(Bucket=BUCKET)["Rules"] == rules["Rules"]
    put = s3.put_object(Bucket=BUCKET, Key="logs/today", Body=b"x")
    assert 'rule-id="old%20form"' in put["Expiration"], put
    assert s3.head_object(Bucket=BUCKET, Key="logs/today")["Expiration"] == put["Expiration"]
    aws("delete-bucket-lifecycle", "--bucket", BUCKET)
    try:
        s3.get_bucket_lifecycle_configuration(Bucket=BUCKET)
        raise AssertionError("there are rules")
    except ClientError as error:
        assert error.response["Error"]["Code"] == "NoSuchLifecycleConfiguration", error


def test_objects_expire_and_uploads_are_aborted():
    s3.put_object(Bucket=BUCKET, Key="expire/tagged", Body=b"x", Tagging="k=v")
    s3.put_object(Bucket=BUCKET, Key="expire/plain", Body=b"x")
    upload = s3.create_multipart_upload(Bucket=BUCKET, Key="expire/upload")
    s3.upload_part(Bucket=BUCKET, Key="expire/upload", PartNumber=1, UploadId=upload["UploadId"], Body=b"x")
    s3.put_bucket_lifecycle_configuration(
        Bucket=BUCKET,
        LifecycleConfiguration={
            "Rules": [
                {
                    "Status": "Enabled",
                    "Filter": {"And": {"Prefix": "expire/", "Tags": [{"Key": "k", "Value": "v"}]}},
                    "Expiration": {"Days": 1},
                },
                {
                    "Status": "Enabled",
                    "Filter": {"Prefix": "expire/"},
                    "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1},
                },
            ]
        },
    )
    until("the tagged object expires", lambda: "expire/tagged" not in keys(BUCKET))
    until("the upload is aborted", lambda: not s3.list_multipart_uploads(Bucket=BUCKET).get("Uploads"))
    assert keys(BUCKET) == ["expire/plain", "logs/today"]


def test_versions_go():
    """The present one gets a marker, the others go, and at last the marker goes, too."""
    bucket = BUCKET + "-versions"
    s3.create_bucket(Bucket=bucket)
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    for i in range(5):
        s3.put_object(Bucket=bucket, Key="k", Body=b"%d" % i)
    rule = {
        "Status": "Enabled",
        "Filter": {},
        "NoncurrentVersionExpiration": {"NoncurrentDays": 1, "NewerNoncurrentVersions": 2},
    }
    s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": [rule]})
    until("two noncurrent versions are left", lambda: versions(bucket) == (3, 0))
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"4"
    rule["NoncurrentVersionExpiration"] = {"NoncurrentDays": 1}
    rule["Expiration"] = {"Days": 1}
    s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": [rule]})
    until("nothing is left", lambda: versions(bucket) == (0, 0))
    s3.delete_bucket_lifecycle(Bucket=bucket)
    s3.delete_bucket(Bucket=bucket)


def test_objects_are_moved():
    """Same bytes, ETag and time in the other class."""
    content = random.Random(SEED).randbytes(300_000)
    s3.put_object(Bucket=BUCKET, Key="move/k", Body=content, Metadata={"color": "blue"})
    before = s3.head_object(Bucket=BUCKET, Key="move/k")
    s3.put_bucket_lifecycle_configuration(
        Bucket=BUCKET,
        LifecycleConfiguration={
            "Rules": [
                {
                    "Status": "Enabled",
                    "Filter": {"Prefix": "move/"},
                    "Transitions": [{"Days": 0, "StorageClass": "STANDARD_IA"}],
                }
            ]
        },
    )
    until(
        "the object is moved",
        lambda: s3.head_object(Bucket=BUCKET, Key="move/k").get("StorageClass") == "STANDARD_IA",
    )
    after = s3.get_object(Bucket=BUCKET, Key="move/k")
    assert after["Body"].read() == content
    for field in ("ETag", "LastModified", "Metadata", "ContentLength"):
        assert after[field] == before[field], field


for name, test in list(globals().items()):
    if name.startswith("test_"):
        print(name, flush=True)
        test()
for key in keys(BUCKET):
    s3.delete_object(Bucket=BUCKET, Key=key)
s3.delete_bucket(Bucket=BUCKET)
