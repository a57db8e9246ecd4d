package dev.ashlar.metadata.state.blob;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.AttemptIdValue;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobChange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.RebuiltShard;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.stream.Collectors;

/** Changes a blob in place: a compare-and-set to its next revision. */
public final class BlobChanges {
  /** The maximum per blob; at this number writers have to fold first. */
  static final int UNFOLDED_MAX = 32;

  private BlobChanges() {}

  /** Whether the change is consistent in itself. */
  public static boolean isWellFormed(BlobChange change) {
    return change.getLength() > 0
        && change.getOffset() >= 0
        && change.getOffset() <= Blobs.LENGTH_MAX - change.getLength()
        && change.getBaseLength() >= change.getOffset()
        && change.getBaseRevision() >= 0;
  }

  /** Whether the change makes the blob longer than the writer saw it. */
  public static boolean grows(BlobChange change) {
    return change.getOffset() + change.getLength() > change.getBaseLength();
  }

  /**
   * Whether a correct writer can have sent this change: its base exists, and its attempt is not
   * committed yet.
   */
  public static boolean isPossible(ApplyContext context, BlobRow row, BlobChange change) {
    return change.getBaseRevision() <= row.getRevision()
        && change.getBaseLength() <= row.getLength()
        && change.getEpoch() <= context.placement().epoch()
        && !isCommitted(row, change.getAttempt());
  }

  private static boolean isCommitted(BlobRow row, AttemptIdValue id) {
    for (AttemptRow attempt : row.getAttemptsList()) {
      AttemptIdValue other = attempt.getId();
      if (other.getSession() == id.getSession() && other.getSequence() == id.getSequence()) {
        return true;
      }
    }
    return false;
  }

  /** The row after the change, not written yet. */
  public static BlobRow apply(ApplyContext context, BlobRow row, BlobChange change) {
    require(row.getReferences() == 1, ResultCode.CONDITIONAL_CONFLICT);
    require(!isFrozen(context, row), ResultCode.CONDITIONAL_CONFLICT);
    require(
        !grows(change) || change.getBaseLength() == row.getLength(),
        ResultCode.CONDITIONAL_CONFLICT);
    Profile profile = Profile.of(row.getProfile());
    ByteRange range = new ByteRange(change.getOffset(), change.getLength());
    StripeLayout layout = new StripeLayout(profile, Math.max(row.getLength(), range.end()));
    AttemptRow.Builder attempt = attempt(row, change, range, layout);
    require(!conflicts(row, change.getBaseRevision(), attempt), ResultCode.CONDITIONAL_CONFLICT);
    require(row.getAttemptsCount() < UNFOLDED_MAX, ResultCode.TOO_MANY_UNFOLDED);
    require(!isOvertaken(context, row, change), ResultCode.CONDITIONAL_CONFLICT);
    List<SlotAck> counting = counting(row, change);
    boolean[] held =
        Acknowledgements.held(
            context, slot -> context.placement().location(row, slot), profile, counting);
    List<Integer> missed = Acknowledgements.missing(held, attempt.getSlotsList());
    SortedSet<Integer> debts = Debts.slots(context, row);
    debts.addAll(missed);
    boolean mayCountNextTime = counting.size() < change.getAcksCount();
    require(
        debts.size() <= Acknowledgements.debtsMax(profile) || !mayCountNextTime,
        ResultCode.CONDITIONAL_CONFLICT);
    Acknowledgements.requireDurable(profile, debts);
    BlobRow.Builder changed = Acknowledgements.withMisses(context, row, row).toBuilder();
    if (Acknowledgements.areMissesRecorded(context)) {
      changed.setMissedSlotsKnown(true);
      attempt.addAllMissedSlots(missed);
    }
    changed
        .setRevision(attempt.getRevision())
        .setLength(attempt.getLength())
        .setRewritten(attempt.getRewrites() ? context.freshId() : row.getRewritten())
        .addAttempts(attempt);
    return RelocatedShards.settled(context, row, changed.build(), debts, Map.of());
  }

  /** Whether drives may have folded the next revision already: writers have to copy the blob. */
  private static boolean isFrozen(ApplyContext context, BlobRow row) {
    return row.getFrozen() && context.version() >= MetadataVersion.FREEZES_BLOBS;
  }

  /**
   * Whether a slot that the writer changed has been given to another drive since it read the row.
   * Its change would then cost the blob a shard.
   */
  private static boolean isOvertaken(ApplyContext context, BlobRow row, BlobChange change) {
    PlacementMap map = context.placement();
    return row.getSettled() > change.getBaseSettled()
        && change.getAcksList().stream()
            .filter(ack -> ack.getSlot() >= 0 && ack.getSlot() < map.profile(row.getPg()).shards())
            .anyMatch(
                ack -> !Acknowledgements.driveOf(ack).equals(map.location(row, ack.getSlot())));
  }

  /**
   * The acknowledgements that count: intents for a shard that was rebuilt meanwhile do not belong
   * to the new shard.
   */
  private static List<SlotAck> counting(BlobRow row, BlobChange change) {
    if (row.getRebuiltCount() == 0) {
      return change.getAcksList();
    }
    Set<Integer> rebuilt =
        row.getRebuiltList().stream()
            .filter(shard -> shard.getPosition() > change.getBaseSettled())
            .map(RebuiltShard::getSlot)
            .collect(Collectors.toSet());
    return change.getAcksList().stream().filter(ack -> !rebuilt.contains(ack.getSlot())).toList();
  }

  private static AttemptRow.Builder attempt(
      BlobRow row, BlobChange change, ByteRange range, StripeLayout layout) {
    return AttemptRow.newBuilder()
        .setId(change.getAttempt())
        .setRevision(row.getRevision() + 1)
        .setFirstStripe(layout.stripeOf(range.offset()))
        .setLastStripe(layout.stripeOf(range.end() - 1))
        .addAllSlots(layout.touchedSlots(range))
        .setLength(layout.blobLength())
        .setRewrites(range.offset() < row.getLength());
  }

  /**
   * Whether a revision after the base changed, or may have changed, one of these stripes. Revisions
   * have no gaps, so those of the remembered stripes follow from their number.
   */
  private static boolean conflicts(BlobRow row, long base, AttemptRow.Builder change) {
    int remembered = row.getFoldedStripesCount() / 2;
    long oldestBase = row.getRevision() - row.getAttemptsCount() - remembered;
    if (base < oldestBase) {
      return true;
    }
    for (int i = (int) Math.min(base - oldestBase, remembered); i < remembered; i++) {
      if (overlap(change, row.getFoldedStripes(2 * i), row.getFoldedStripes(2 * i + 1))) {
        return true;
      }
    }
    for (AttemptRow attempt : row.getAttemptsList()) {
      if (attempt.getRevision() > base
          && overlap(change, attempt.getFirstStripe(), attempt.getLastStripe())) {
        return true;
      }
    }
    return false;
  }

  private static boolean overlap(AttemptRow.Builder change, long firstStripe, long lastStripe) {
    return change.getFirstStripe() <= lastStripe && firstStripe <= change.getLastStripe();
  }
}
