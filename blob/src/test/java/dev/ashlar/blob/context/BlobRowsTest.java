package dev.ashlar.blob.context;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.protocol.client.CommittedAttempt;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.message.AttemptIdValue;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.AttemptId;
import java.util.List;
import org.junit.jupiter.api.Test;

class BlobRowsTest {
  @Test
  void aBlobAsFirstWrittenIsAskedForAsSuch() {
    assertEquals(ShardView.ORIGINAL, BlobRows.view(BlobRow.getDefaultInstance(), 3));
  }

  @Test
  void viewOfASlotNamesTheAttemptsThatTouchedIt() {
    BlobRow row =
        BlobRow.newBuilder()
            .setRevision(5)
            .addAllFolded(List.of(3L, 0L, 2L))
            .addAttempts(attempt(4, 0, 2))
            .addAttempts(attempt(5, 1, 2))
            .build();
    assertEquals(new ShardView(5, 3, List.of(committed(4))), BlobRows.view(row, 0));
    assertEquals(new ShardView(5, 0, List.of(committed(5))), BlobRows.view(row, 1));
    assertEquals(new ShardView(5, 2, List.of(committed(4), committed(5))), BlobRows.view(row, 2));
  }

  @Test
  void withoutFoldsAllAreUnfolded() {
    BlobRow row = BlobRow.newBuilder().setRevision(1).addAttempts(attempt(1, 1)).build();
    assertEquals(new ShardView(1, 0, List.of()), BlobRows.view(row, 0));
    assertEquals(new ShardView(1, 0, List.of(committed(1))), BlobRows.view(row, 1));
  }

  private static AttemptRow attempt(long revision, Integer... slots) {
    return AttemptRow.newBuilder()
        .setId(AttemptIdValue.newBuilder().setSession(7).setSequence(revision))
        .setRevision(revision)
        .addAllSlots(List.of(slots))
        .build();
  }

  private static CommittedAttempt committed(long revision) {
    return new CommittedAttempt(new AttemptId(7, revision), revision);
  }
}
