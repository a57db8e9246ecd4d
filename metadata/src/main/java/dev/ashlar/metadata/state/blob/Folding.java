package dev.ashlar.metadata.state.blob;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.FoldBlob;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.ChangeHolders;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Records that drives have made intents part of their shards. */
public final class Folding {
  /**
   * The folded revisions per blob whose stripes are remembered: more than can be unfolded, so that
   * folding to make room does not cause a conflict for the change that needs the room.
   */
  public static final int REMEMBERED_MAX = 2 * BlobChanges.UNFOLDED_MAX;

  private Folding() {}

  public static CommandResult fold(ApplyContext context, FoldBlob command) {
    BlobRow row = Blobs.find(context, command.getBlob()).orElse(BlobRow.getDefaultInstance());
    if (row.getReferences() == 0) {
      return ApplyContext.OK; // garbage needs no folding
    }
    require(
        command.getRevision() >= 0 && command.getRevision() <= row.getRevision(),
        ResultCode.INVALID_COMMAND);
    int count = 0;
    while (count < row.getAttemptsCount()
        && row.getAttempts(count).getRevision() <= command.getRevision()) {
      count++;
    }
    if (count > 0) {
      Blobs.write(context, row, folded(context, row, count, command));
    }
    return ApplyContext.OK;
  }

  /** The row without its first attempts; every slot of these is folded or in debt from now on. */
  private static BlobRow folded(ApplyContext context, BlobRow row, int count, FoldBlob command) {
    Profile profile = Profile.of(row.getProfile());
    List<AttemptRow> attempts = row.getAttemptsList().subList(0, count);
    Set<Integer> touched = new TreeSet<>();
    attempts.forEach(attempt -> touched.addAll(attempt.getSlotsList()));
    Set<Integer> before = Debts.slots(context, row);
    boolean[] held =
        Acknowledgements.held(
            context,
            slot -> context.placement().location(row, slot),
            profile,
            command.getAcksList());
    Set<Integer> debts = new TreeSet<>(before);
    debts.addAll(Acknowledgements.missing(held, touched));
    // Debts from new incarnations may exceed the limit and must not prevent folding.
    require(
        debts.size() <= Math.max(before.size(), Acknowledgements.debtsMax(profile)),
        ResultCode.NOT_DURABLE);
    require(mayLeave(context, row, count, held, before), ResultCode.NOT_DURABLE);
    BlobRow folded =
        row.toBuilder()
            .clearAttempts()
            .addAllAttempts(row.getAttemptsList().subList(count, row.getAttemptsCount()))
            .clearFolded()
            .addAllFolded(foldedBySlot(row, profile, attempts))
            .clearFoldedStripes()
            .addAllFoldedStripes(foldedStripes(row, attempts))
            .build();
    return RelocatedShards.settled(context, row, folded, debts, Map.of());
  }

  /** Whether folding gives up no slot that decoding may need. Not checked before version 3. */
  private static boolean mayLeave(
      ApplyContext context, BlobRow row, int count, boolean[] held, Set<Integer> before) {
    if (!Acknowledgements.areMissesRecorded(context)) {
      return true;
    }
    BlobRow told = Acknowledgements.withMisses(context, row, row);
    Set<Integer> folded = ChangeHolders.of(told, count);
    folded.removeIf(slot -> !held[slot]);
    return ChangeHolders.mayLeave(told, count, folded, before);
  }

  private static List<Long> foldedBySlot(BlobRow row, Profile profile, List<AttemptRow> attempts) {
    List<Long> folded =
        new ArrayList<>(
            row.getFoldedCount() > 0
                ? row.getFoldedList()
                : Collections.nCopies(profile.shards(), 0L));
    for (AttemptRow attempt : attempts) {
      attempt.getSlotsList().forEach(slot -> folded.set(slot, attempt.getRevision()));
    }
    return folded;
  }

  private static List<Long> foldedStripes(BlobRow row, List<AttemptRow> attempts) {
    List<Long> stripes = new ArrayList<>(row.getFoldedStripesList());
    for (AttemptRow attempt : attempts) {
      stripes.add(attempt.getFirstStripe());
      stripes.add(attempt.getLastStripe());
    }
    return stripes.subList(Math.max(0, stripes.size() - 2 * REMEMBERED_MAX), stripes.size());
  }
}
