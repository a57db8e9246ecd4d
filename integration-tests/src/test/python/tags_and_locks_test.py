"""Tags, renames and object lock with boto3. Run by TagsAndLocksIT: tags_and_locks_test.py ENDPOINT SEED."""

import datetime
import json
import sys
import time
import urllib.request

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

ENDPOINT, SEED = sys.argv[1], int(sys.argv[2])
suffix = str(SEED % 1_000_000)
bucket, locked = f"tags-{suffix}", f"locked-{suffix}"
UNTIL = datetime.datetime(2099, 1, 1, tzinfo=datetime.timezone.utc)
DAY = datetime.timedelta(days=1)


def client(service, keys=None):
    arguments = {}
    if keys:
        arguments = {"aws_access_key_id": keys["AccessKeyId"], "aws_secret_access_key": keys["SecretAccessKey"]}
    config = Config(retries={"max_attempts": 0}, s3={"addressing_style": "path"})
    if service == "s3":
        config = config.merge(Config(signature_version="s3v4"))
    return boto3.client(service, endpoint_url=ENDPOINT, region_name="us-east-1", config=config, **arguments)


s3 = client("s3")


def assert_error(code, status, call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        got = (error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"])
        assert got == (code, status), f"{got}, not {(code, status)}"
        return
    raise AssertionError(f"no error, expected {code}")


def tag_set(**tags):
    """In the order in which S3 answers them."""
    return [{"Key": key, "Value": value} for key, value in sorted(tags.items())]


def tags_of(key):
    return s3.get_object_tagging(Bucket=bucket, Key=key)["TagSet"]


def test_tags_of_a_bucket():
    assert_error("NoSuchTagSet", 404, s3.get_bucket_tagging, Bucket=bucket)
    tags = tag_set(team="blue", cost="a+b = c/d")
    s3.put_bucket_tagging(Bucket=bucket, Tagging={"TagSet": tags})
    assert s3.get_bucket_tagging(Bucket=bucket)["TagSet"] == tags
    many = tag_set(**{f"t{i}": "v" for i in range(51)})
    assert_error("InvalidTag", 400, s3.put_bucket_tagging, Bucket=bucket, Tagging={"TagSet": many})
    s3.delete_bucket_tagging(Bucket=bucket)
    assert_error("NoSuchTagSet", 404, s3.get_bucket_tagging, Bucket=bucket)


def test_tags_of_objects():
    s3.put_object(Bucket=bucket, Key="k", Body=b"x", Tagging="team=blue&cost=1%2B1")
    assert tags_of("k") == tag_set(team="blue", cost="1+1")
    assert s3.get_object(Bucket=bucket, Key="k")["TagCount"] == 2
    s3.put_object_tagging(Bucket=bucket, Key="k", Tagging={"TagSet": tag_set(team="red")})
    source = {"Bucket": bucket, "Key": "k"}
    s3.copy_object(Bucket=bucket, Key="c", CopySource=source)
    assert tags_of("c") == tag_set(team="red")
    s3.copy_object(Bucket=bucket, Key="c", CopySource=source, TaggingDirective="REPLACE", Tagging="a=b")
    assert tags_of("c") == tag_set(a="b")
    s3.delete_object_tagging(Bucket=bucket, Key="c")
    assert tags_of("c") == []
    upload = s3.create_multipart_upload(Bucket=bucket, Key="m", Tagging="a=b")["UploadId"]
    part = s3.upload_part(Bucket=bucket, Key="m", UploadId=upload, PartNumber=1, Body=b"part")
    s3.complete_multipart_upload(
        Bucket=bucket,
        Key="m",
        UploadId=upload,
        MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]},
    )
    assert tags_of("m") == tag_set(a="b")


def test_presigned_tags():
    url = s3.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "p", "Tagging": "a=b"})
    request = urllib.request.Request(url, data=b"x", method="PUT", headers={"x-amz-tagging": "a=b"})
    assert urllib.request.urlopen(request).status == 200
    assert tags_of("p") == tag_set(a="b")


def test_rename():
    s3.put_object(Bucket=bucket, Key="old name", Body=b"content", Metadata={"a": "b"}, Tagging="a=b")
    s3.rename_object(Bucket=bucket, Key="new/name", RenameSource="old%20name", ClientToken="token")
    got = s3.get_object(Bucket=bucket, Key="new/name")
    assert (got["Body"].read(), got["Metadata"], got["TagCount"]) == (b"content", {"a": "b"}, 1)
    assert_error("NoSuchKey", 404, s3.get_object, Bucket=bucket, Key="old name")
    s3.rename_object(Bucket=bucket, Key="new/name", RenameSource="old%20name", ClientToken="token")
    assert_error("NoSuchKey", 404, s3.rename_object, Bucket=bucket, Key="n", RenameSource="old%20name", ClientToken="2")
    s3.put_object(Bucket=bucket, Key="there", Body=b"x")
    arguments = {"Bucket": bucket, "Key": "there", "RenameSource": "new/name"}
    assert_error("PreconditionFailed", 412, s3.rename_object, DestinationIfNoneMatch="*", **arguments)
    assert_error("PreconditionFailed", 412, s3.rename_object, SourceIfMatch='"other"', **arguments)
    s3.rename_object(SourceIfMatch=got["ETag"], **arguments)
    assert s3.get_object(Bucket=bucket, Key="there")["Body"].read() == b"content"
    assert_error("InvalidBucketState", 409, s3.rename_object, Bucket=locked, Key="k", RenameSource="other")


def test_lock_of_a_bucket():
    assert_error("ObjectLockConfigurationNotFoundError", 404, s3.get_object_lock_configuration, Bucket=bucket)
    configuration = {
        "ObjectLockEnabled": "Enabled",
        "Rule": {"DefaultRetention": {"Mode": "GOVERNANCE", "Days": 10}},
    }
    assert_error(
        "InvalidBucketState",
        409,
        s3.put_object_lock_configuration,
        Bucket=bucket,
        ObjectLockConfiguration=configuration,
    )
    s3.put_object_lock_configuration(Bucket=locked, ObjectLockConfiguration=configuration)
    assert s3.get_object_lock_configuration(Bucket=locked)["ObjectLockConfiguration"] == configuration
    s3.put_object(Bucket=locked, Key="default", Body=b"x")
    retention = s3.get_object_retention(Bucket=locked, Key="default")["Retention"]
    assert retention["Mode"] == "GOVERNANCE"
    left = retention["RetainUntilDate"] - datetime.datetime.now(datetime.timezone.utc)
    assert 9 * DAY < left <= 10 * DAY, left
    del configuration["Rule"]
    s3.put_object_lock_configuration(Bucket=locked, ObjectLockConfiguration=configuration)


def test_retention_and_hold():
    s3.put_object(
        Bucket=locked,
        Key="k",
        Body=b"x",
        ObjectLockMode="GOVERNANCE",
        ObjectLockRetainUntilDate=UNTIL,
        ObjectLockLegalHoldStatus="ON",
    )
    head = s3.head_object(Bucket=locked, Key="k")
    assert head["ObjectLockMode"] == "GOVERNANCE"
    assert head["ObjectLockRetainUntilDate"] == UNTIL
    assert head["ObjectLockLegalHoldStatus"] == "ON"
    shorter = {"Mode": "GOVERNANCE", "RetainUntilDate": UNTIL - DAY}
    assert_error("AccessDenied", 403, s3.put_object_retention, Bucket=locked, Key="k", Retention=shorter)
    s3.put_object_retention(Bucket=locked, Key="k", Retention=shorter, BypassGovernanceRetention=True)
    assert s3.get_object_retention(Bucket=locked, Key="k")["Retention"] == shorter
    s3.put_object_legal_hold(Bucket=locked, Key="k", LegalHold={"Status": "OFF"})
    assert s3.get_object_legal_hold(Bucket=locked, Key="k")["LegalHold"] == {"Status": "OFF"}
    compliance = {"Mode": "COMPLIANCE", "RetainUntilDate": UNTIL}
    s3.put_object(Bucket=locked, Key="c", Body=b"x")
    s3.put_object_retention(Bucket=locked, Key="c", Retention=compliance)
    compliance["RetainUntilDate"] -= DAY
    assert_error(
        "AccessDenied",
        403,
        s3.put_object_retention,
        Bucket=locked,
        Key="c",
        Retention=compliance,
        BypassGovernanceRetention=True,
    )
    past = {"Mode": "GOVERNANCE", "RetainUntilDate": datetime.datetime(2020, 1, 1)}
    assert_error("InvalidArgument", 400, s3.put_object_retention, Bucket=locked, Key="k", Retention=past)
    assert_error("InvalidRequest", 400, s3.get_object_retention, Bucket=bucket, Key="k")


def test_locked_versions():
    versions = {}
    for mode in ("GOVERNANCE", "COMPLIANCE"):
        put = s3.put_object(
            Bucket=locked, Key="v", Body=mode, ObjectLockMode=mode, ObjectLockRetainUntilDate=UNTIL
        )
        versions[mode] = put["VersionId"]
        assert_error("AccessDenied", 403, s3.delete_object, Bucket=locked, Key="v", VersionId=put["VersionId"])
    marker = s3.delete_object(Bucket=locked, Key="v")
    assert marker["DeleteMarker"]
    objects = [{"Key": "v", "VersionId": version} for version in versions.values()]
    answer = s3.delete_objects(Bucket=locked, Delete={"Objects": objects}, BypassGovernanceRetention=True)
    assert [each["VersionId"] for each in answer["Deleted"]] == [versions["GOVERNANCE"]], answer
    assert [(each["VersionId"], each["Code"]) for each in answer["Errors"]] == [
        (versions["COMPLIANCE"], "AccessDenied")
    ], answer
    got = s3.get_object(Bucket=locked, Key="v", VersionId=versions["COMPLIANCE"])
    assert (got["Body"].read(), got["ObjectLockMode"]) == (b"COMPLIANCE", "COMPLIANCE")
    assert_error(
        "InvalidBucketState",
        409,
        s3.put_bucket_versioning,
        Bucket=locked,
        VersioningConfiguration={"Status": "Suspended"},
    )
    assert_error("BucketNotEmpty", 409, s3.delete_bucket, Bucket=locked)


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def test_backup_client_checks_the_lock():
    """What backup programs try before they rely on a bucket: write, delete, extend, wait, delete."""
    first, extended = now() + datetime.timedelta(seconds=2), now() + datetime.timedelta(seconds=6)
    lock = {"ObjectLockMode": "COMPLIANCE", "ObjectLockRetainUntilDate": first}
    version = s3.put_object(Bucket=locked, Key="backup", Body=b"block", **lock)["VersionId"]
    one = {"Bucket": locked, "Key": "backup", "VersionId": version}
    s3.put_object_retention(Retention={"Mode": "COMPLIANCE", "RetainUntilDate": extended}, **one)
    refused = []
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        asked = now()
        try:
            s3.delete_object(**one)
            break
        except ClientError as error:
            assert error.response["Error"]["Code"] == "AccessDenied", error
            refused.append(asked)
            time.sleep(0.3)
    assert now() >= extended and refused, (extended, refused)
    assert_error("NoSuchVersion", 404, s3.get_object, **one)


def test_tags_of_versions():
    first = s3.put_object(Bucket=locked, Key="t", Body=b"1", Tagging="a=1")["VersionId"]
    s3.put_object(Bucket=locked, Key="t", Body=b"2", Tagging="a=2")
    s3.put_object_tagging(Bucket=locked, Key="t", VersionId=first, Tagging={"TagSet": tag_set(a="3")})
    got = s3.get_object_tagging(Bucket=locked, Key="t", VersionId=first)
    assert (got["TagSet"], got["VersionId"]) == (tag_set(a="3"), first)
    assert s3.get_object_tagging(Bucket=locked, Key="t")["TagSet"] == tag_set(a="2")


def test_rights():
    """A user who may write, but neither tag, lock nor bypass."""
    iam = client("iam")
    name = f"writer-{suffix}"
    iam.create_user(UserName=name)
    statements = [
        {"Effect": "Allow", "Action": ["s3:PutObject", "s3:PutObjectRetention"], "Resource": "*"},
        {
            "Effect": "Allow",
            "Action": "s3:GetObject",
            "Resource": "*",
            "Condition": {"StringEquals": {"s3:ExistingObjectTag/team": "red"}},
        },
    ]
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
    iam.put_user_policy(UserName=name, PolicyName="own", PolicyDocument=policy)
    writer = client("s3", iam.create_access_key(UserName=name)["AccessKey"])
    writer.put_object(Bucket=bucket, Key="w", Body=b"x")
    assert_error("AccessDenied", 403, writer.get_object, Bucket=bucket, Key="w")
    assert_error("AccessDenied", 403, writer.put_object, Bucket=bucket, Key="w", Body=b"y", Tagging="team=red")
    tagging = {"TagSet": tag_set(team="red")}
    assert_error("AccessDenied", 403, writer.put_object_tagging, Bucket=bucket, Key="w", Tagging=tagging)
    s3.put_object_tagging(Bucket=bucket, Key="w", Tagging=tagging)
    got = writer.get_object(Bucket=bucket, Key="w")
    assert got["Body"].read() == b"x" and "TagCount" not in got
    longer = {"Mode": "GOVERNANCE", "RetainUntilDate": UNTIL + DAY}
    writer.put_object_retention(Bucket=locked, Key="k", Retention=longer)
    shorter = {"Mode": "GOVERNANCE", "RetainUntilDate": UNTIL}
    arguments = {"Bucket": locked, "Key": "k", "Retention": shorter}
    assert_error("AccessDenied", 403, writer.put_object_retention, **arguments)
    assert_error("AccessDenied", 403, writer.put_object_retention, BypassGovernanceRetention=True, **arguments)


def main():
    s3.create_bucket(Bucket=bucket)
    s3.create_bucket(Bucket=locked, ObjectLockEnabledForBucket=True)
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            print(name, flush=True)
            test()


main()
