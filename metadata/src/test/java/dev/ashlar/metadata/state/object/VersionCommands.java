package dev.ashlar.metadata.state.object;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.client.VersionRead;
import dev.ashlar.protocol.client.VersionsPage;
import dev.ashlar.protocol.client.VersionsQuery;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CreateBucket;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.DeleteResult;
import dev.ashlar.protocol.message.DeleteTarget;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetBucketVersioning;
import dev.ashlar.protocol.message.SetObjectFacts;
import dev.ashlar.protocol.message.Tag;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.message.Versioning;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/** Commands on one bucket with versioning, as a gateway sends them. */
final class VersionCommands {
  static final String BUCKET = "b";
  static final VersionRef NULL = VersionRef.getDefaultInstance();
  static final int VERSION = MetadataVersion.KNOWN;

  private final SettableClock clock = new SettableClock();
  private final MemoryTable table = new MemoryTable();
  private MemoryMetadata metadata;
  private long sequence;

  /** A clock that is moved by hand. */
  private static final class SettableClock extends Clock {
    private Instant now = Instant.parse("2027-01-01T00:00:00Z");

    @Override
    public Instant instant() {
      return now;
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }
  }

  VersionCommands() {
    metadata = new MemoryMetadata(table, clock, VERSION);
    metadata.require(
        Command.newBuilder()
            .setPutDrives(
                MemoryMetadata.drives(
                    new Profile(2, 1, 16384), MemoryMetadata.sequentialIds(3), 2)));
  }

  static VersionCommands withBucket() {
    VersionCommands commands = new VersionCommands();
    commands.metadata.require(TestBlobs.createBucket(BUCKET));
    return commands;
  }

  static VersionCommands withLocks() {
    VersionCommands commands = new VersionCommands();
    commands.metadata.require(
        Command.newBuilder()
            .setCreateBucket(
                CreateBucket.newBuilder().setName(BUCKET).setOwner("me").setLock(true)));
    return commands;
  }

  MemoryMetadata metadata() {
    return metadata;
  }

  MemoryTable table() {
    return table;
  }

  long nowMs() {
    return clock.millis();
  }

  void pass(Duration time) {
    clock.now = clock.now.plus(time);
  }

  void restart() {
    metadata = new MemoryMetadata(table, clock, VERSION);
  }

  CommandResult submit(Command.Builder command) throws Exception {
    return metadata.submit(command);
  }

  CommandResult accepted(Command.Builder command) throws Exception {
    CommandResult result = submit(command);
    assertEquals(ResultCode.OK, result.getCode(), () -> "for " + command);
    return result;
  }

  ResultCode versioning(Versioning versioning) throws Exception {
    return submit(
            Command.newBuilder()
                .setSetBucketVersioning(
                    SetBucketVersioning.newBuilder().setBucket(BUCKET).setVersioning(versioning)))
        .getCode();
  }

  PutObject.Builder object(String key, long size) {
    BlobId id = new BlobId(metadata.session(), sequence++);
    return TestBlobs.put(BUCKET, key, TestBlobs.acknowledged(metadata, id, size))
        .getPutObject()
        .toBuilder();
  }

  CommandResult put(PutObject.Builder object) throws Exception {
    return accepted(Command.newBuilder().setPutObject(object));
  }

  long put(String key, long size) throws Exception {
    return put(object(key, size)).getVersion();
  }

  DeleteResult delete(DeleteTarget.Builder target) throws Exception {
    return accepted(
            Command.newBuilder()
                .setDeleteObjects(DeleteObjects.newBuilder().setBucket(BUCKET).addTargets(target)))
        .getDeletes(0);
  }

  DeleteResult delete(String key) throws Exception {
    return delete(DeleteTarget.newBuilder().setKey(key));
  }

  DeleteResult delete(String key, VersionRef version) throws Exception {
    return delete(DeleteTarget.newBuilder().setKey(key).setVersion(version));
  }

  static VersionRef ref(long version) {
    return VersionRef.newBuilder().setNumber(version).build();
  }

  SetObjectFacts.Builder facts(String key, @Nullable VersionRef version) {
    SetObjectFacts.Builder facts = SetObjectFacts.newBuilder().setBucket(BUCKET).setKey(key);
    return version == null ? facts : facts.setVersion(version);
  }

  ResultCode set(SetObjectFacts.Builder facts) throws Exception {
    return submit(Command.newBuilder().setSetObjectFacts(facts)).getCode();
  }

  static ObjectFacts tags(String value) {
    return ObjectFacts.newBuilder().addTags(Tag.newBuilder().setKey("t").setValue(value)).build();
  }

  ObjectLock retention(ObjectLock.Mode mode, Duration time) {
    return ObjectLock.newBuilder()
        .setMode(mode)
        .setRetainUntilMs(nowMs() + time.toMillis())
        .build();
  }

  /** The size of what a version holds; -1: it is a delete marker, -2: there is none. */
  long size(String key, @Nullable VersionRef version) throws Exception {
    return switch (metadata.version(BUCKET, key, version)) {
      case VersionRead.Content content -> content.read().object().getSummary().getSize();
      case VersionRead.DeleteMarker marker -> -1;
      case VersionRead.Nothing nothing -> -2;
    };
  }

  VersionsPage page(String keyMarker, @Nullable VersionRef versionMarker, int max)
      throws Exception {
    return metadata.versions(new VersionsQuery(BUCKET, "", "", keyMarker, versionMarker, max));
  }

  /** The id of a listed version. */
  static VersionRef id(VersionEntry entry) {
    return entry.getVersioned() ? ref(entry.getVersion()) : NULL;
  }

  /** The number of rows of this bucket in the tables of objects and their versions. */
  int rows() throws Exception {
    long bucket = metadata.bucket(BUCKET).orElseThrow().getId();
    int[] rows = new int[1];
    for (char name : "OHJDLf".toCharArray()) {
      table.forEach(Keys.inBucket(name, bucket), (key, value) -> rows[0]++);
    }
    return rows[0];
  }
}
