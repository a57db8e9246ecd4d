package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import com.google.protobuf.ByteString;
import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.node.EncryptionUse;
import dev.ashlar.protocol.layout.EncryptedRuns;
import dev.ashlar.protocol.layout.FrameLayout;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetObjectFacts;
import dev.ashlar.protocol.message.UploadRow;
import java.util.List;

/**
 * What is checked of encrypted objects and uploads. Before version 9 nothing is encrypted, and runs
 * are kept in rows as builds keep fields that they do not know.
 */
final class Encryption {
  private Encryption() {}

  private static boolean isKnown(ApplyContext context) {
    return context.version() >= MetadataVersion.ENCRYPTS;
  }

  static boolean isEncrypted(ApplyContext context, ObjectRecord object) {
    return isKnown(context) && EncryptedRuns.isEncrypted(object);
  }

  /** Whether the parts of an upload are encrypted. */
  private static boolean isEncrypted(ApplyContext context, UploadRow upload) {
    return isKnown(context) && !upload.getFacts().getWrappedKey().isEmpty();
  }

  /** The bytes that the slices of an object cover. */
  static long storedSize(ApplyContext context, ObjectRecord object) {
    return isKnown(context) ? EncryptedRuns.storedSize(object) : object.getSummary().getSize();
  }

  /**
   * The bytes that the blobs of a new version hold. Refuses facts that contradict themselves or its
   * size.
   */
  static long storedSize(ApplyContext context, ObjectFacts facts, long size) {
    if (!isKnown(context)) {
      return size;
    }
    List<EncryptedRun> runs = facts.getRunsList();
    require(runs.isEmpty() == facts.getWrappedKey().isEmpty(), ResultCode.INVALID_COMMAND);
    if (runs.isEmpty()) {
      return size;
    }
    require(
        runs.size() <= Uploads.PART_NUMBER_MAX
            && runs.stream().allMatch(EncryptedRuns::isWellFormed)
            && EncryptedRuns.plainSize(runs) == size,
        ResultCode.INVALID_COMMAND);
    EncryptionUse.requirePossible(context);
    return EncryptedRuns.storedSize(runs);
  }

  /** A new version has these facts, which have been checked. */
  static void begin(ApplyContext context, ObjectFacts facts) {
    if (isKnown(context) && !facts.getWrappedKey().isEmpty()) {
      EncryptionUse.begin(context);
    }
  }

  /** Refuses a copy whose facts do not fit the bytes of its source. */
  static void requireCopy(ApplyContext context, ObjectRecord source, ObjectFacts facts) {
    require(
        !isKnown(context)
            || (facts.getRunsList().equals(source.getFacts().getRunsList())
                && facts.getWrappedKey().isEmpty() == facts.getRunsList().isEmpty()),
        ResultCode.INVALID_COMMAND);
  }

  /**
   * Refuses to give a plain version a wrapped key, to take that of an encrypted one, and to replace
   * another one than the sender knows.
   */
  static void requireRewrapped(ApplyContext context, ObjectFacts facts, SetObjectFacts command) {
    if (!isKnown(context)) {
      return;
    }
    require(
        facts.getRunsCount() > 0 && !command.getWrappedKey().isEmpty(), ResultCode.INVALID_COMMAND);
    ByteString expected = command.getExpectedWrappedKey();
    require(
        expected.isEmpty() || expected.equals(facts.getWrappedKey()),
        ResultCode.CONDITIONAL_CONFLICT);
  }

  /** Refuses an upload that could not be encrypted, although it is to be. */
  static void requirePossible(ApplyContext context, UploadRow upload) {
    if (isKnown(context)) {
      require(upload.getFacts().getRunsCount() == 0, ResultCode.INVALID_COMMAND);
    }
    if (isEncrypted(context, upload)) {
      EncryptionUse.requirePossible(context);
    }
  }

  /** The bytes that the blobs of a part hold. Refuses one that does not fit its upload. */
  static long storedSize(ApplyContext context, UploadRow upload, PartRow part) {
    requireOf(context, upload, part);
    if (!isEncrypted(context, upload)) {
      return part.getSize();
    }
    EncryptedRun run = part.getRun();
    require(
        EncryptedRuns.isWellFormed(run) && run.getSize() == part.getSize(),
        ResultCode.INVALID_COMMAND);
    return FrameLayout.storedSize(run.getSize());
  }

  /** Refuses a part that is encrypted although its upload is not, or the other way round. */
  private static void requireOf(ApplyContext context, UploadRow upload, PartRow part) {
    require(
        !isKnown(context) || part.hasRun() == isEncrypted(context, upload),
        ResultCode.INVALID_COMMAND);
  }

  /**
   * Refuses a part with bytes of another object where either is encrypted: they need new frames.
   */
  static void requirePlain(
      ApplyContext context, UploadRow upload, ObjectRecord source, PartRow part) {
    requireOf(context, upload, part);
    require(
        !isEncrypted(context, upload) && !isEncrypted(context, source), ResultCode.INVALID_COMMAND);
  }

  /** The runs of the version that an upload makes of these parts. */
  static List<EncryptedRun> runs(ApplyContext context, UploadRow upload, List<PartRow> parts) {
    parts.forEach(part -> requireOf(context, upload, part));
    if (!isEncrypted(context, upload)) {
      return List.of();
    }
    EncryptionUse.requirePossible(context);
    return parts.stream().map(PartRow::getRun).toList();
  }

  /** Whether this is a change of an encrypted object. */
  static boolean isChange(ApplyContext context, ModifyObject command) {
    return isKnown(context) && command.getPlainSize() != 0;
  }

  /**
   * The facts of an object after a change that leaves it this plain size. Only the last run becomes
   * longer. Refuses a size that does not fit the stored bytes.
   *
   * @param plainSize 0: the object was plain when the sender of the change saw it
   * @param storedSize after the change
   */
  static ObjectFacts changed(
      ApplyContext context, ObjectRecord object, long plainSize, long storedSize) {
    ObjectFacts facts = object.getFacts();
    if (!isKnown(context)) {
      return facts;
    }
    boolean isEncrypted = EncryptedRuns.isEncrypted(object);
    require(isEncrypted == (plainSize != 0), ResultCode.CONDITIONAL_CONFLICT);
    if (!isEncrypted) {
      return facts;
    }
    long grown = plainSize - object.getSummary().getSize();
    EncryptedRun last = facts.getRunsList().getLast();
    EncryptedRun longer = last.toBuilder().setSize(last.getSize() + grown).build();
    ObjectFacts after = facts.toBuilder().setRuns(facts.getRunsCount() - 1, longer).build();
    require(
        grown >= 0
            && EncryptedRuns.isWellFormed(longer)
            && EncryptedRuns.storedSize(after.getRunsList()) == storedSize,
        ResultCode.INVALID_COMMAND);
    return after;
  }
}
