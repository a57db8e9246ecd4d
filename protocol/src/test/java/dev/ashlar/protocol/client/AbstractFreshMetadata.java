package dev.ashlar.protocol.client;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CopyObject;
import dev.ashlar.protocol.message.CreateBucket;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectAttributes;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.Precondition;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.PutPart;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A client of metadata for each test, with a bucket, and the commands that tests send most. */
abstract class AbstractFreshMetadata {
  MetadataClient client;
  long sequence;

  /** A fresh one, with a placement map installed. */
  protected abstract MetadataClient newClient() throws Exception;

  protected abstract void closeClient() throws Exception;

  @BeforeEach
  void openClient() throws Exception {
    client = newClient();
    ok(Command.newBuilder().setCreateBucket(bucket("b", "me")));
  }

  @AfterEach
  void close() throws Exception {
    closeClient();
  }

  static CreateBucket.Builder bucket(String name, String owner) {
    return CreateBucket.newBuilder().setName(name).setOwner(owner).setRegion("eu");
  }

  final CommandResult ok(Command.Builder command) throws MetadataUnavailableException {
    CommandResult result = client.submit(command);
    assertEquals(ResultCode.OK, result.getCode());
    return result;
  }

  final void refused(ResultCode code, Command.Builder command) throws MetadataUnavailableException {
    assertEquals(code, client.submit(command).getCode());
  }

  /** A blob that all of its slots have acknowledged. */
  final NewBlob.Builder blob(long length) {
    return blob(new BlobId(client.session(), sequence++), length);
  }

  final NewBlob.Builder blob(BlobId id, long length) {
    PlacementMap map = client.placement();
    int pg = map.group(id).orElseThrow();
    NewBlob.Builder blob =
        NewBlob.newBuilder()
            .setId(id.toMessage())
            .setLength(length)
            .setProfile(map.profile(pg).toMessage())
            .setPg(pg)
            .setEpoch(map.epoch());
    return blob.addAllAcks(acks(pg));
  }

  final List<SlotAck> acks(int pg) {
    PlacementMap map = client.placement();
    List<SlotAck> acks = new ArrayList<>();
    for (int slot = 0; slot < map.profile(pg).shards(); slot++) {
      UUID drive = map.drive(pg, slot);
      DriveId present = requireNonNull(client.drives().get(drive));
      acks.add(
          SlotAck.newBuilder()
              .setSlot(slot)
              .setDriveHigh(drive.getMostSignificantBits())
              .setDriveLow(drive.getLeastSignificantBits())
              .setIncarnation(present.incarnation())
              .build());
    }
    return acks;
  }

  final Command.Builder put(String key, NewBlob... blobs) {
    long size = 0;
    for (NewBlob blob : blobs) {
      size += blob.getLength();
    }
    return Command.newBuilder()
        .setPutObject(
            PutObject.newBuilder()
                .setBucket("b")
                .setKey(key)
                .setSummary(ObjectSummary.newBuilder().setSize(size).setEtag("e" + key))
                .addAllBlobs(List.of(blobs)));
  }

  final Command.Builder put(String key) {
    return put(key, blob(10).build());
  }

  final Command.Builder put(String key, Precondition.Builder condition) {
    Command.Builder command = put(key);
    command.getPutObjectBuilder().setPrecondition(condition);
    return command;
  }

  static Command.Builder delete(String... keys) {
    return Command.newBuilder()
        .setDeleteObjects(DeleteObjects.newBuilder().setBucket("b").addAllKeys(List.of(keys)));
  }

  static Command.Builder copy(String from, long version, String to) {
    return Command.newBuilder()
        .setCopyObject(
            CopyObject.newBuilder()
                .setSourceBucket("b")
                .setSourceKey(from)
                .setSourceVersion(version)
                .setBucket("b")
                .setKey(to)
                .setSummary(ObjectSummary.newBuilder().setEtag("copy")));
  }

  final ObjectRead object(String key) throws MetadataUnavailableException {
    return client.object("b", key).orElseThrow();
  }

  final void startUpload(String key, String id) throws MetadataUnavailableException {
    ok(
        Command.newBuilder()
            .setCreateUpload(
                CreateUpload.newBuilder()
                    .setUpload(
                        UploadRow.newBuilder()
                            .setBucket("b")
                            .setKey(key)
                            .setUploadId(id)
                            .setOwner("me")
                            .setAttributes(
                                ObjectAttributes.newBuilder().putHeaders("content-type", "x/y")))));
  }

  final long putPart(String key, String id, int number, NewBlob blob)
      throws MetadataUnavailableException {
    return ok(Command.newBuilder()
            .setPutPart(
                PutPart.newBuilder()
                    .setBucket("b")
                    .setKey(key)
                    .setUploadId(id)
                    .setPart(PartRow.newBuilder().setNumber(number).setSize(blob.getLength()))
                    .addBlobs(blob)))
        .getVersion();
  }
}
