package dev.ashlar.metadata.state.blob;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.Profile;
import java.util.List;

/** Which slots missed the unfolded changes of a blob: since version 3 its row tells. */
final class MissedSlots {
  private MissedSlots() {}

  static boolean areRecorded(ApplyContext context) {
    return context.version() >= MetadataVersion.KNOWS_MISSED_SLOTS;
  }

  /**
   * The row after a change of its debts, telling who missed what. In a row of before, a slot that
   * is not in debt missed nothing. The others may have missed each change; where they are not more
   * than a commit allows, nothing is lost if they count as such. Else it stays unknown.
   *
   * @param before the row with the debts that it has had so far
   */
  static BlobRow recorded(ApplyContext context, BlobRow before, BlobRow after) {
    if (!areRecorded(context)) {
      return after;
    }
    if (after.getAttemptsCount() == 0) {
      return after.getMissedSlotsKnown()
          ? after.toBuilder().clearMissedSlotsKnown().build()
          : after;
    }
    List<Integer> debts = before.getDebtSlotsList();
    if (after.getMissedSlotsKnown()
        || debts.size() > Acknowledgements.debtsMax(Profile.of(after.getProfile()))) {
      return after;
    }
    BlobRow.Builder told = after.toBuilder().setMissedSlotsKnown(true);
    for (AttemptRow.Builder attempt : told.getAttemptsBuilderList()) {
      attempt
          .clearMissedSlots()
          .addAllMissedSlots(attempt.getSlotsList().stream().filter(debts::contains).toList());
    }
    return told.build();
  }
}
