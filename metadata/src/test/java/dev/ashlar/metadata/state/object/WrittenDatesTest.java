package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.object.VersionCommands.BUCKET;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.DefaultRetention;
import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.SetBucketLock;
import dev.ashlar.protocol.message.UploadRow;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Dates of what is written when a leader has another clock than the one before. */
class WrittenDatesTest {
  private static final Duration HOUR = Duration.ofHours(1);

  private final VersionCommands it = VersionCommands.withLocks();

  private long putAndDate(String key) throws Exception {
    it.put(key, 10);
    return it.metadata()
        .object(BUCKET, key)
        .orElseThrow()
        .object()
        .getSummary()
        .getLastModifiedMs();
  }

  @Test
  void aClockThatIsFarBehindDoesNotDateWhatIsWritten() throws Exception {
    it.put("before", 10);
    long logMs = it.nowMs();
    it.pass(Duration.ofDays(-40));
    long earliestMs = logMs - HOUR.toMillis();
    assertEquals(earliestMs, it.put(it.object("k", 10)).getLastModifiedMs());
    assertEquals(
        earliestMs,
        it.metadata().object(BUCKET, "k").orElseThrow().object().getSummary().getLastModifiedMs());
    it.delete("k");
    assertEquals(
        earliestMs,
        it.page("", null, 10).entries().stream()
            .filter(entry -> entry.getDeleteMarker())
            .findFirst()
            .orElseThrow()
            .getSummary()
            .getLastModifiedMs());
    UploadRow.Builder upload = UploadRow.newBuilder().setBucket(BUCKET).setKey("u");
    it.accepted(
        Command.newBuilder()
            .setCreateUpload(CreateUpload.newBuilder().setUpload(upload.setUploadId("id"))));
    assertEquals(
        earliestMs, it.metadata().upload(BUCKET, "u", "id").orElseThrow().getInitiatedAtMs());
  }

  @Test
  void clocksThatDifferByLessThanAnHourAreBelieved() throws Exception {
    it.put("before", 10);
    it.pass(HOUR.negated());
    assertEquals(it.nowMs(), putAndDate("behind"));
    it.pass(Duration.ofDays(40));
    assertEquals(it.nowMs(), putAndDate("ahead"));
  }

  @Test
  void defaultRetentionsDoNotEndEarlier() throws Exception {
    it.accepted(
        Command.newBuilder()
            .setSetBucketLock(
                SetBucketLock.newBuilder()
                    .setBucket(BUCKET)
                    .setRetention(
                        DefaultRetention.newBuilder()
                            .setMode(ObjectLock.Mode.COMPLIANCE)
                            .setDays(10))));
    long logMs = it.nowMs();
    it.pass(Duration.ofDays(-40));
    it.put("k", 10);
    assertEquals(
        logMs - HOUR.toMillis() + Duration.ofDays(10).toMillis(),
        it.metadata().object(BUCKET, "k").orElseThrow().object().getLock().getRetainUntilMs());
  }

  @Test
  void olderVersionsOfMetadataBelieveAnyClock() throws Exception {
    ManualClock clock = new ManualClock(Duration.ofDays(20_000).toMillis());
    MemoryMetadata older = MemoryMetadata.ofVersion(8, clock);
    older.require(TestBlobs.createBucket(BUCKET));
    clock.advanceMs(-Duration.ofDays(40).toMillis());
    PutObject.Builder put =
        PutObject.newBuilder()
            .setBucket(BUCKET)
            .setKey("k")
            .setSummary(ObjectSummary.newBuilder().setEtag("e"));
    older.require(Command.newBuilder().setPutObject(put));
    assertEquals(
        clock.millis(),
        older.object(BUCKET, "k").orElseThrow().object().getSummary().getLastModifiedMs());
  }
}
