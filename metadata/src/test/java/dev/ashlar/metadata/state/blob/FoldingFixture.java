package dev.ashlar.metadata.state.blob;

import dev.ashlar.protocol.message.BlobChange;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.FoldBlob;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.RecordDebts;
import java.util.List;
import java.util.UUID;

/** Short names for folding, and for drives in new incarnations. */
abstract class FoldingFixture extends ChangeFixture {
  private long incarnation = 1;

  FoldingFixture(int version) {
    super(version);
  }

  /** The drives in these slots come back in a new incarnation, at once. */
  void begin(String key, int... slots) throws Exception {
    incarnation++;
    PutDrives.Builder put = PutDrives.newBuilder();
    for (int slot : slots) {
      UUID drive = metadata.placement().drive(row(key).getPg(), slot);
      put.addDrives(
          DriveRow.newBuilder()
              .setDriveHigh(drive.getMostSignificantBits())
              .setDriveLow(drive.getLeastSignificantBits())
              .setIncarnation(incarnation));
    }
    ok(Command.newBuilder().setPutDrives(put));
  }

  void note(String key) throws Exception {
    ok(Command.newBuilder().setRecordDebts(RecordDebts.newBuilder().addBlobs(row(key).getId())));
  }

  /** Drives of these slots have folded up to the revision, and no others. */
  FoldBlob.Builder foldedBy(String key, long revision, Integer... slots) throws Exception {
    FoldBlob.Builder fold = fold(row(key), revision);
    List<Integer> those = List.of(slots);
    for (int i = fold.getAcksCount() - 1; i >= 0; i--) {
      if (!those.contains(fold.getAcks(i).getSlot())) {
        fold.removeAcks(i);
      }
    }
    return fold;
  }

  static BlobChange.Builder without(BlobChange.Builder change, int slot) {
    for (int i = change.getAcksCount() - 1; i >= 0; i--) {
      if (change.getAcks(i).getSlot() == slot) {
        change.removeAcks(i);
      }
    }
    return change;
  }
}
