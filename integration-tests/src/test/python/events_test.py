"""Notification configurations of boto3 and the AWS CLI, and one change of each kind.

Run by EventsIT, which gets the events: events_test.py ENDPOINT ARN.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.request

import boto3
import botocore.exceptions
from botocore.config import Config

ENDPOINT, ARN = sys.argv[1], sys.argv[2]
BUCKET = "events"
config = Config(signature_version="s3v4", s3={"addressing_style": "path"})
s3 = boto3.client("s3", endpoint_url=ENDPOINT, region_name="us-east-1", config=config)


def refused(code, configuration, **how):
    try:
        s3.put_bucket_notification_configuration(
            Bucket=BUCKET, NotificationConfiguration=configuration, **how
        )
    except botocore.exceptions.ClientError as error:
        assert error.response["Error"]["Code"] == code, error
        assert error.response["ResponseMetadata"]["HTTPStatusCode"] in (400, 501), error
    else:
        raise AssertionError(f"{code} is expected")


def rule(arn=ARN, events=("s3:ObjectCreated:*",), prefix="in/", suffix=".txt"):
    rules = [{"Name": "prefix", "Value": prefix}, {"Name": "suffix", "Value": suffix}]
    return {"Id": "all", "Events": list(events), "Filter": {"Key": {"FilterRules": rules}}} | (
        {"QueueArn": arn} if ":sqs:" in arn else {"TopicArn": arn}
    )


def configure():
    assert "QueueConfigurations" not in s3.get_bucket_notification_configuration(Bucket=BUCKET)
    other = "arn:ashlar:sqs::other:webhook"
    refused("InvalidArgument", {"QueueConfigurations": [rule(other)]}, SkipDestinationValidation=True)
    refused("InvalidArgument", {"QueueConfigurations": [rule(events=["s3:ObjectAccessed:*"])]})
    refused("NotImplemented", {"QueueConfigurations": [rule(events=["s3:ObjectRestore:*"])]})
    refused("NotImplemented", {"EventBridgeConfiguration": {}})
    refused("InvalidArgument", {"QueueConfigurations": [rule(), rule() | {"Id": "again"}]})
    events = ["s3:ObjectCreated:*", "s3:ObjectRemoved:*", "s3:ObjectTagging:*", "s3:ObjectAcl:Put"]
    wanted = rule(events=events)
    s3.put_bucket_notification_configuration(
        Bucket=BUCKET, NotificationConfiguration={"QueueConfigurations": [wanted]}
    )
    got = s3.get_bucket_notification_configuration(Bucket=BUCKET)["QueueConfigurations"]
    assert got == [wanted], got
    aws = [pathlib.Path(sys.executable).parent / "aws", "--endpoint-url", ENDPOINT, "--region", "us-east-1", "s3api"]
    subprocess.run(
        [*aws, "put-bucket-notification-configuration", "--bucket", BUCKET, "--notification-configuration",
         json.dumps({"QueueConfigurations": [wanted]})],
        check=True,
    )
    shown = subprocess.run(
        [*aws, "get-bucket-notification-configuration", "--bucket", BUCKET], check=True, capture_output=True
    )
    assert json.loads(shown.stdout)["QueueConfigurations"] == [wanted], shown.stdout


def post(key):
    """Uploads a form, as a browser does."""
    form = s3.generate_presigned_post(BUCKET, key)
    boundary = "boundary-of-the-test"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in form["fields"].items()
    ]
    parts.append(
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nform\r\n--{boundary}--\r\n'
    )
    request = urllib.request.Request(form["url"], "".join(parts).encode(), method="POST")
    request.add_header("Content-Type", f"multipart/form-data; boundary={boundary}")
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 204, answer.status


def change():
    s3.put_object(Bucket=BUCKET, Key="in/put.txt", Body=b"data")
    s3.put_object(Bucket=BUCKET, Key="in/put.png", Body=b"data")
    s3.put_object(Bucket=BUCKET, Key="out/put.txt", Body=b"data")
    s3.copy_object(Bucket=BUCKET, Key="in/copy of it.txt", CopySource={"Bucket": BUCKET, "Key": "in/put.txt"})
    upload = s3.create_multipart_upload(Bucket=BUCKET, Key="in/parts.txt")["UploadId"]
    part = s3.upload_part(Bucket=BUCKET, Key="in/parts.txt", UploadId=upload, PartNumber=1, Body=b"part")
    s3.complete_multipart_upload(
        Bucket=BUCKET,
        Key="in/parts.txt",
        UploadId=upload,
        MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]},
    )
    post("in/form.txt")
    s3.put_object(Bucket=BUCKET, Key="in/put.txt", Body=b" and more", WriteOffsetBytes=4)
    tags = {"TagSet": [{"Key": "k", "Value": "v"}]}
    s3.put_object_tagging(Bucket=BUCKET, Key="in/put.txt", Tagging=tags)
    s3.delete_object_tagging(Bucket=BUCKET, Key="in/put.txt")
    s3.put_object_acl(Bucket=BUCKET, Key="in/put.txt", ACL="private")
    s3.delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": "in/copy of it.txt"}, {"Key": "in/none.txt"}]})
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    marker = s3.delete_object(Bucket=BUCKET, Key="in/put.txt")["VersionId"]
    s3.delete_object(Bucket=BUCKET, Key="in/put.txt", VersionId=marker)


def mc(program):
    """MinIO's client adds, shows and removes a configuration."""
    with tempfile.TemporaryDirectory() as folder:

        def run(*arguments, fails=False):
            command = [program, "--config-dir", folder, "--json", *arguments]
            ran = subprocess.run(command, capture_output=True, text=True)
            assert (ran.returncode != 0) == fails, (arguments, ran.stdout, ran.stderr)
            return ran.stdout

        run("alias", "set", "a", ENDPOINT, os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
        run("mb", "a/events-mc")
        run("event", "add", "--event", "put,delete", "--prefix", "p/", "--suffix", ".jpg", "a/events-mc", ARN)
        [shown] = [json.loads(line) for line in run("event", "list", "a/events-mc").splitlines()]
        assert (shown["arn"], shown["prefix"], shown["suffix"]) == (ARN, "p/", ".jpg"), shown
        assert set(shown["event"]) == {"s3:ObjectCreated:*", "s3:ObjectRemoved:*"}, shown
        run("event", "add", "a/events-mc", ARN, fails=True)  # it asks for reads, too
        run("event", "remove", "--force", "a/events-mc")
        assert run("event", "list", "a/events-mc") == ""


s3.create_bucket(Bucket=BUCKET)
configure()
change()
if shutil.which("mc"):
    mc(shutil.which("mc"))
