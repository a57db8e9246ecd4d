package dev.ashlar.metadata.state.blob;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.Profile;
import java.util.List;

/** The slots that missed unfolded changes of a blob, which its row records since version 3. */
final class MissedSlots {
  private MissedSlots() {}

  static boolean areRecorded(ApplyContext context) {
    return context.version() >= MetadataVersion.KNOWS_MISSED_SLOTS;
  }

  /**
   * The row after a change of its debts, with missed slots recorded. In a row from an earlier
   * version, a slot that is not in debt missed nothing. Slots in debt may have missed each change;
   * if there are no more of them than a commit allows, they are recorded as missed. Otherwise it
   * stays unknown.
   *
   * @param before the row with its previous debts
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
