package dev.ashlar.blob.fold;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.Profile;
import org.junit.jupiter.api.Test;

class FoldJobTest {
  private static final Profile PROFILE = Profile.parse("4+2", 16384);
  private static final int STRIPES_MAX = (int) (FoldJob.SHARD_BYTES_MAX / 16384);

  /** A drive keeps a row per folded block in memory until its batch is written. */
  @Test
  void noMoreIsFoldedAtOnceThanFitsMemoryUnlessASingleAttemptIsLarger() {
    assertEquals(3, FoldJob.fitting(row(1, 1, 1), 3));
    assertEquals(2, FoldJob.fitting(row(1, 1, 1), 2));
    assertEquals(2, FoldJob.fitting(row(STRIPES_MAX / 2, STRIPES_MAX / 2, 1), 3));
    assertEquals(1, FoldJob.fitting(row(4 * STRIPES_MAX, 1), 2));
    assertEquals(1, FoldJob.fitting(row(1, STRIPES_MAX), 2));
    assertEquals(4L * 16384, new FoldJob(row(3, 1, 5), 2).shardBytes());
  }

  private static BlobRow row(int... stripes) {
    BlobRow.Builder row = BlobRow.newBuilder().setProfile(PROFILE.toMessage());
    for (int count : stripes) {
      row.addAttempts(AttemptRow.newBuilder().setFirstStripe(7).setLastStripe(7 + count - 1));
    }
    return row.build();
  }
}
