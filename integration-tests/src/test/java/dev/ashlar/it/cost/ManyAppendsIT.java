package dev.ashlar.it.cost;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.ChangeSession;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Metrics;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.model.Profile;
import java.io.IOException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * One object to which 4 KiB are appended again and again: what it costs to read, the space it takes
 * and what is left to fold do not grow with the number of appends. {@code -Dashlar.appends} says
 * how many (1,000).
 */
class ManyAppendsIT {
  private static final int APPENDS = Integer.getInteger("ashlar.appends", 1_000);
  private static final int LOOKS = 10;
  private static final int TRIES = 20;
  private static final int BLOCK = 4096;
  private static final String KEY = "log";

  /** A blob holds 1 GiB; what is longer goes on in the next. */
  private static final long BLOB_BYTES_MAX = 1L << 30;

  /** Of unfolded changes a blob has so many at most. */
  private static final int UNFOLDED_MAX = 32;

  /** Small pieces of a shard that wait to become large ones. */
  private static final int SMALL_PIECES_MAX = 512;

  /** Beyond the bytes of the layout: checksums, headers, and what is not folded yet. */
  private static final double LIVE_OVERHEAD = 1.02;

  private static final long LIVE_SLACK_BYTES = 4 << 20;

  /** Segments that are written, wait for compaction or are kept for it, per drive. */
  private static final int SPARE_SEGMENTS = 4;

  private static final int SEGMENT_BYTES = 64 << 20;
  private static final Duration DEADLINE = Duration.ofMinutes(3);

  private final ServerProcess server =
      ServerProcess.start(ServerSpec.named("appends").withLongLife());
  private final Profile profile = Profile.parse("4+2", server.spec().stripeUnit());
  private final long seed = Seeds.seed("ManyAppendsIT");
  private final SplittableRandom random = new SplittableRandom(seed);

  @Test
  void costsDoNotGrow() throws Exception {
    try (server) {
      String bucket;
      try (S3Client s3 = Clients.sync(server)) {
        bucket = Buckets.create(s3, "appends");
      }
      try (ChangeSession session = new ChangeSession(server, bucket)) {
        for (int look = 0; look < LOOKS; look++) {
          append(session, look * (long) APPENDS / LOOKS, (look + 1L) * APPENDS / LOOKS);
        }
        awaitFolded();
        look(session, APPENDS);
        readAll(session);
        assertBlobs(session);
      }
    }
  }

  private byte[] block(long number) {
    return new Content(seed + number, BLOCK).bytes();
  }

  private void append(ChangeSession session, long from, long to) throws IOException {
    Metrics before = Metrics.of(server);
    long cpuBefore = server.cpuMillis();
    long began = System.nanoTime();
    for (long i = from; i < to; i++) {
      byte[] body = block(i);
      long offset = i * BLOCK;
      Answer answer =
          session.send(each -> each.append(KEY, offset, body, "Content-Type", "text/plain"));
      assertEquals(200, answer.status(), answer::toString);
    }
    double seconds = (System.nanoTime() - began) / 1e9;
    Metrics after = Metrics.of(server);
    double count = (double) (to - from);
    System.out.printf(
        "appends %,d to %,d: %.0f/s, each %.2f ms of CPU, %.2f drive batches, %.0f bytes in them,"
            + " %.2f log entries, %.3f folds%n",
        from,
        to,
        count / seconds,
        (server.cpuMillis() - cpuBefore) / count,
        after.since(before, "ashlar_drive_write_ops_total") / count,
        after.since(before, "ashlar_drive_write_bytes_total") / count,
        after.since(before, "ashlar_metadata_log_entries_total") / count,
        after.since(before, "ashlar_blob_folds_total") / count);
    look(session, to);
  }

  /** Everything that has to stay bounded. */
  private void look(ChangeSession session, long appended) throws IOException {
    Metrics before = Metrics.of(server);
    long unfolded = before.sum("ashlar_blob_unfolded_changes");
    long blockReads = readsOfABlock(session, appended);
    Metrics after = Metrics.of(server);
    long arithmetic = new StripeLayout(profile, appended * BLOCK).storedBytes();
    long live = after.sum("ashlar_drive_live_bytes");
    long used = after.sum("ashlar_drive_used_bytes");
    System.out.printf(
        "  %,d unfolded; a block is %d reads; %,d KiB live of %,d by the layout, %,d in segments;"
            + " %d MiB resident%n",
        unfolded,
        blockReads,
        live >> 10,
        arithmetic >> 10,
        used >> 10,
        server.residentBytes() >> 20);
    assertTrue(unfolded <= UNFOLDED_MAX, unfolded + " unfolded");
    assertEquals(1, blockReads, "reads of one block");
    assertTrue(live <= arithmetic * LIVE_OVERHEAD + LIVE_SLACK_BYTES, live + " bytes live");
    long spare = (long) profile.shards() * SPARE_SEGMENTS * SEGMENT_BYTES;
    assertTrue(used <= 2 * live + spare, used + " bytes of segments for " + live);
  }

  /** The least of some tries: drives that make large pieces of small ones read beside it. */
  private long readsOfABlock(ChangeSession session, long appended) throws IOException {
    long least = Long.MAX_VALUE;
    for (int tries = 0; tries < TRIES && least > 1; tries++) {
      long number = random.nextLong(appended);
      Metrics before = Metrics.of(server);
      byte[] got = session.get(KEY, number * BLOCK, (number + 1) * BLOCK);
      least = Math.min(least, Metrics.of(server).since(before, "ashlar_drive_read_ops_total"));
      assertArrayEquals(block(number), got);
    }
    return least;
  }

  private void awaitFolded() {
    Instant deadline = Instant.now().plus(DEADLINE);
    while (Metrics.of(server).sum("ashlar_blob_unfolded_changes") != 0) {
      assertTrue(Instant.now().isBefore(deadline), "not folded");
      ServerProcess.pause(Duration.ofMillis(100));
    }
  }

  /** In one pass, so that its reads can be counted; in pieces of what an array may hold. */
  private void readAll(ChangeSession session) throws Exception {
    long size = (long) APPENDS * BLOCK;
    Metrics before = Metrics.of(server);
    MessageDigest expected = MessageDigest.getInstance("SHA-256");
    MessageDigest seen = MessageDigest.getInstance("SHA-256");
    long pieceBytes = 256L << 20;
    for (long from = 0; from < size; from += pieceBytes) {
      long to = Math.min(size, from + pieceBytes);
      seen.update(session.get(KEY, from, to));
      for (long i = from / BLOCK; i < to / BLOCK; i++) {
        expected.update(block(i));
      }
    }
    assertArrayEquals(expected.digest(), seen.digest(), "seed " + seed);
    Metrics after = Metrics.of(server);
    long reads = after.since(before, "ashlar_drive_read_ops_total");
    long ranges = after.since(before, "ashlar_drive_payload_read_ops_total");
    System.out.printf("whole read: %,d reads for %,d ranges of shards%n", reads, ranges);
    assertTrue(ranges <= 2L * profile.dataShards() * (1 + (size >> 20)), ranges + " ranges");
    long small = (long) profile.dataShards() * SMALL_PIECES_MAX;
    assertTrue(reads <= 2 * ranges + small, reads + " reads for " + ranges + " ranges");
  }

  /** Of the object's blobs the collector finds as many as its size needs. */
  private void assertBlobs(ChangeSession session) throws IOException {
    if (APPENDS < 10_000) {
      return; // they stay for a minute
    }
    long collected = Metrics.of(server).sum("ashlar_garbage_blobs_total");
    session.require(204, each -> each.send("DELETE", KEY, "", new byte[0], Map.of()));
    long empty = (long) profile.shards() * LIVE_SLACK_BYTES;
    Instant deadline = Instant.now().plus(DEADLINE);
    while (Metrics.of(server).sum("ashlar_drive_live_bytes") > empty) {
      assertTrue(Instant.now().isBefore(deadline), "not collected");
      ServerProcess.pause(Duration.ofSeconds(1));
    }
    long blobs = Metrics.of(server).sum("ashlar_garbage_blobs_total") - collected;
    System.out.println("the object had " + blobs + " blobs");
    assertEquals(Math.ceilDiv((long) APPENDS * BLOCK, BLOB_BYTES_MAX), blobs);
  }
}
