"""Jobs of other programs, as people run them. Run by ProgramsIT: programs_test.py ENDPOINT SEED FOLDER PROGRAM."""

import datetime
import filecmp
import json
import os
import pathlib
import random
import subprocess
import sys
import time
import urllib.error
import urllib.request

import boto3
from botocore.config import Config

ENDPOINT, SEED, FOLDER, PROGRAM = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
KEY, SECRET = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
MIB = 1024 * 1024
TREE = FOLDER / "tree"
bucket = f"{PROGRAM}-{SEED % 1_000_000}"
s3 = boto3.client(
    "s3", endpoint_url=ENDPOINT, region_name="us-east-1", config=Config(s3={"addressing_style": "path"})
)


def program(*arguments, fails=False, **environment):
    """Runs the program to its end and returns what it printed."""
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=FOLDER,
        timeout=120,
        env={**os.environ, "HOME": str(FOLDER), **environment},
    )
    assert (done.returncode != 0) == fails, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def file(name, length):
    path = TREE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(random.Random(f"{SEED}/{name}").randbytes(length))
    return path


def make_tree():
    for name, length in (("empty", 0), ("a 1", 10_000), ("b", 20_000), ("sub/ü+é&%.txt", 10), ("large", 12 * MIB)):
        file(name, length)


def assert_same_trees(left, right):
    names = sorted(path.relative_to(left) for path in left.rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(right) for path in right.rglob("*") if path.is_file()), right
    for name in names:
        assert filecmp.cmp(left / name, right / name, shallow=False), f"{name} differs"


def versions(prefix=""):
    pages = s3.get_paginator("list_object_versions").paginate(Bucket=bucket, Prefix=prefix)
    return [version for page in pages for version in page.get("Versions", [])]


def status(path):
    try:
        return urllib.request.urlopen(f"{ENDPOINT}/{bucket}/{path}").status
    except urllib.error.HTTPError as error:
        return error.code


def rclone():
    """Syncs by checksum, and looks at older versions."""
    config = FOLDER / "rclone.conf"
    config.write_text(
        f"[a]\ntype = s3\nprovider = Other\nendpoint = {ENDPOINT}\nregion = us-east-1\n"
        f"access_key_id = {KEY}\nsecret_access_key = {SECRET}\n"
    )

    def run(*arguments, **how):
        own = ("--config", config, "--retries", 1, "--low-level-retries", 1)
        return program(*arguments, *own, **how, AWS_CA_BUNDLE="")

    target = f"a:{bucket}/t"
    run("mkdir", f"a:{bucket}")
    assert "Enabled" in run("backend", "versioning", f"a:{bucket}", "Enabled")
    sync = ("sync", "--checksum", "--s3-chunk-size", "5M", "--s3-upload-cutoff", "6M", TREE, target)
    run(*sync)
    run("check", "--download", TREE, target)
    assert len(versions()) == 5
    run(*sync)
    assert len(versions()) == 5
    time.sleep(1.1)  # S3's times are whole seconds.
    then = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    time.sleep(1.1)
    before = FOLDER / "before"
    run("copy", target, before)
    file("a 1", 50)
    (TREE / "b").unlink()
    run(*sync)
    run("check", TREE, target)
    assert run("lsf", "--s3-versions", target).count("-v20") == 2
    run("copy", "--s3-version-at", then, target, FOLDER / "then")
    assert_same_trees(before, FOLDER / "then")
    run("backend", "cleanup-hidden", f"a:{bucket}")
    assert len(versions()) == 4
    assert "[]" in run("backend", "list-multipart-uploads", f"a:{bucket}")
    run("delete", f"a:{bucket}")
    run("backend", "cleanup-hidden", f"a:{bucket}")
    run("rmdir", f"a:{bucket}")


def restic():
    """A repository in which nothing can be destroyed for a day."""
    s3.create_bucket(Bucket=bucket, ObjectLockEnabledForBucket=True)
    rule = {"DefaultRetention": {"Mode": "COMPLIANCE", "Days": 1}}
    s3.put_object_lock_configuration(
        Bucket=bucket, ObjectLockConfiguration={"ObjectLockEnabled": "Enabled", "Rule": rule}
    )

    def run(*arguments):
        return program(
            *arguments, "--no-cache", RESTIC_REPOSITORY=f"s3:{ENDPOINT}/{bucket}/repo", RESTIC_PASSWORD="password"
        )

    run("init")
    run("backup", TREE)
    file("a 1", 50)
    run("backup", TREE)
    run("forget", "--keep-last", 1, "--prune")
    assert len(json.loads(run("snapshots", "--json"))) == 1
    run("check", "--read-data")
    run("restore", "latest", "--target", FOLDER / "restored")
    assert_same_trees(TREE, FOLDER / "restored" / TREE.relative_to("/"))
    # What restic has deleted is behind markers; nobody takes away the versions.
    objects = [{"Key": each["Key"], "VersionId": each["VersionId"]} for each in versions()]
    answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": objects}, BypassGovernanceRetention=True)
    assert {error["Code"] for error in answer["Errors"]} == {"AccessDenied"}, answer
    assert len(answer["Errors"]) == len(objects)


def mc():
    """Versions, undo, locks, tags, anonymous access, mirrors and streams."""
    own = ("--config-dir", FOLDER / "mc", "--quiet", "--no-color")

    def run(*arguments, **how):
        return program(*own, *arguments, **how)

    run("alias", "set", "a", ENDPOINT, KEY, SECRET)
    run("mb", "--with-versioning", f"a/{bucket}")
    target = f"a/{bucket}/t"
    run("mirror", TREE, target)
    run("mirror", target, FOLDER / "back")
    assert_same_trees(TREE, FOLDER / "back")
    run("cp", TREE / "b", f"{target}/a 1")
    run("rm", f"{target}/a 1")
    assert run("ls", "--versions", f"{target}/a 1").count("PUT") == 2
    run("undo", f"{target}/a 1")
    assert s3.head_object(Bucket=bucket, Key="t/a 1")["ContentLength"] == 20_000
    run("undo", "--last", 1, "--force", f"{target}/a 1")
    assert s3.head_object(Bucket=bucket, Key="t/a 1")["ContentLength"] == 10_000
    run("tag", "set", f"{target}/b", "k=v")
    assert "k" in run("tag", "list", f"{target}/b")
    assert status("t/b") == 403
    run("anonymous", "set", "download", f"a/{bucket}")
    assert "download" in run("anonymous", "get", f"a/{bucket}")
    assert status("t/b") == 200
    with (TREE / "large").open("rb") as stream:
        subprocess.run([PROGRAM, *map(str, own), "pipe", f"{target}/piped"], stdin=stream, check=True, cwd=FOLDER)
    assert s3.head_object(Bucket=bucket, Key="t/piped")["ContentLength"] == 12 * MIB
    locked = f"a/{bucket}-locked"
    run("mb", "--with-lock", locked)
    run("retention", "set", "--default", "COMPLIANCE", "1d", locked)
    run("cp", TREE / "b", f"{locked}/b")
    assert "COMPLIANCE" in run("retention", "info", f"{locked}/b")
    run("legalhold", "set", f"{locked}/b")
    run("rm", "--versions", "--force", f"{locked}/b", fails=True)
    run("rb", "--force", f"a/{bucket}")


def s3cmd():
    """ACLs and policies as its users set them."""
    config = FOLDER / "s3cfg"
    host = ENDPOINT.removeprefix("http://")
    config.write_text(
        f"[default]\naccess_key = {KEY}\nsecret_key = {SECRET}\nhost_base = {host}\nhost_bucket = {host}\n"
        "use_https = False\nmax_retries = 1\n"
    )

    def run(*arguments):
        return program("-c", config, "--no-progress", *arguments)

    run("mb", f"s3://{bucket}")
    run("put", "--multipart-chunk-size-mb=5", "-r", f"{TREE}/", f"s3://{bucket}/x/")
    assert "upload" not in run("sync", f"{TREE}/", f"s3://{bucket}/x/")
    assert status("x/b") == 403
    run("setacl", "--acl-public", f"s3://{bucket}/x/b")
    assert status("x/b") == 200
    assert "*anon*: READ" in run("info", f"s3://{bucket}/x/b")
    run("setacl", "--acl-private", f"s3://{bucket}/x/b")
    assert status("x/b") == 403
    policy = FOLDER / "policy"
    statement = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": f"arn:aws:s3:::{bucket}/*"}
    policy.write_text(json.dumps({"Version": "2012-10-17", "Statement": [statement]}))
    run("setpolicy", policy, f"s3://{bucket}")
    assert status("x/b") == 200
    run("delpolicy", f"s3://{bucket}")
    run("mv", f"s3://{bucket}/x/large", f"s3://{bucket}/y/large")
    run("get", f"s3://{bucket}/y/large", FOLDER / "large")
    assert filecmp.cmp(FOLDER / "large", TREE / "large", shallow=False)
    run("rb", "-r", f"s3://{bucket}")


make_tree()
{"mc": mc, "rclone": rclone, "restic": restic, "s3cmd": s3cmd}[PROGRAM]()
