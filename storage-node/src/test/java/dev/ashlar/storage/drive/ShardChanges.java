package dev.ashlar.storage.drive;

import static dev.ashlar.storage.drive.SimulatedCore.noise;

import dev.ashlar.protocol.client.AbstractShardChangesContract;
import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.CommittedAttempt;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.log.LogRequest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Changes of one shard as tests make them: the contents follow from the revision. */
final class ShardChanges {
  static final ShardId SHARD = new ShardId(new BlobId(1, 1), 0);

  private ShardChanges() {}

  static SimulatedCore written(ShardId shard, byte[] bytes) throws IOException {
    SimulatedCore drive = new SimulatedCore(TestDrives.LIMITS);
    write(drive, shard, bytes);
    return drive;
  }

  static void write(SimulatedCore drive, ShardId shard, byte[] bytes) throws IOException {
    drive.commitOne(
        new LogRequest.Write(
            AbstractShardStoreContract.shardWrite(shard, 0, bytes), new Answer<>()));
  }

  static void change(SimulatedCore drive, int revision, int offset, int length, int baseLength)
      throws IOException, ShardException {
    drive.prepare(intent(revision, offset, length, baseLength));
  }

  /** Noise in a range, made from the original. */
  static ShardIntent intent(int revision, int offset, int length, int baseLength) {
    return AbstractShardChangesContract.bytes(
        new ShardIntent.Target(SHARD, attempt(revision), ShardView.ORIGINAL, baseLength),
        offset,
        noise(revision + 1000, length));
  }

  static AttemptId attempt(long revision) {
    return new AttemptId(4, revision);
  }

  static FoldIntent fold(long revision) {
    return new FoldIntent(SHARD, attempt(revision), revision, revision - 1);
  }

  static ShardView unfolded(long... revisions) {
    List<CommittedAttempt> attempts = new ArrayList<>();
    for (long revision : revisions) {
      attempts.add(new CommittedAttempt(attempt(revision), revision));
    }
    return new ShardView(revisions[revisions.length - 1], 0, attempts);
  }
}
