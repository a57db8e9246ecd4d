package dev.ashlar.metadata.state.blob;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.message.BlobChange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CopyObject;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.FoldBlob;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectPiece;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;

/** A bucket {@code b} over eight drives, and short names for what changes its objects. */
public abstract class ChangeFixture {
  protected static final long UNIT = 16384;
  protected static final long STRIPE = 4 * UNIT;

  protected final MemoryMetadata metadata;
  private long sequence;
  private long attempts;

  protected ChangeFixture() {
    this(MetadataVersion.KNOWN);
  }

  /**
   * @param version of metadata that is in use
   */
  protected ChangeFixture(int version) {
    metadata = MemoryMetadata.withDrives(version, new Profile(4, 2, (int) UNIT), 8, 8);
  }

  @BeforeEach
  protected void createBucket() throws Exception {
    ok(TestBlobs.createBucket("b"));
  }

  protected CommandResult ok(Command.Builder command) throws Exception {
    CommandResult result = metadata.submit(command);
    assertEquals(ResultCode.OK, result.getCode());
    return result;
  }

  protected CommandResult ok(ModifyObject.Builder modify) throws Exception {
    return ok(Command.newBuilder().setModifyObject(modify));
  }

  protected void ok(FoldBlob.Builder fold) throws Exception {
    ok(Command.newBuilder().setFoldBlob(fold));
  }

  protected void refused(ResultCode code, ModifyObject.Builder modify) throws Exception {
    assertEquals(
        code, metadata.submit(Command.newBuilder().setModifyObject(modify.clone())).getCode());
  }

  protected void refused(ResultCode code, FoldBlob.Builder fold) throws Exception {
    assertEquals(code, metadata.submit(Command.newBuilder().setFoldBlob(fold)).getCode());
  }

  protected NewBlob.Builder blob(long length) {
    return TestBlobs.acknowledged(metadata, new BlobId(metadata.session(), sequence++), length);
  }

  /** Puts an object of blobs of these lengths. */
  protected void put(String key, long... lengths) throws Exception {
    PutObject.Builder put = PutObject.newBuilder().setBucket("b").setKey(key);
    long size = 0;
    for (long length : lengths) {
      put.addBlobs(blob(length));
      size += length;
    }
    put.setSummary(ObjectSummary.newBuilder().setSize(size).setEtag("e"));
    ok(Command.newBuilder().setPutObject(put));
  }

  protected void copy(String from, String to) throws Exception {
    ok(
        Command.newBuilder()
            .setCopyObject(
                CopyObject.newBuilder()
                    .setSourceBucket("b")
                    .setSourceKey(from)
                    .setBucket("b")
                    .setKey(to)));
  }

  /** The drive in this slot comes back empty. */
  protected void wipe(int pg, int slot) throws Exception {
    UUID drive = metadata.placement().drive(pg, slot);
    DriveRow.Builder row =
        DriveRow.newBuilder()
            .setDriveHigh(drive.getMostSignificantBits())
            .setDriveLow(drive.getLeastSignificantBits())
            .setIncarnation(2);
    ok(Command.newBuilder().setPutDrives(PutDrives.newBuilder().addDrives(row)));
  }

  protected ObjectRead read(String key) throws Exception {
    return metadata.object("b", key).orElseThrow();
  }

  /** The row of the object's first blob. */
  protected BlobRow row(String key) throws Exception {
    return read(key).blobs().getFirst();
  }

  protected List<SliceValue> slices(String key) throws Exception {
    return read(key).object().getSlicesList();
  }

  protected BlobChange.Builder change(BlobRow base, long offset, long length) {
    return TestBlobs.change(metadata, base, attempts++, offset, length);
  }

  protected static ModifyObject.Builder modify(String key, long offset, ObjectPiece... pieces) {
    return TestBlobs.modify("b", key, offset, List.of(pieces));
  }

  /** A change of an object of one slice that is all of a blob. */
  protected ModifyObject.Builder patch(String key, BlobRow base, long offset, long length) {
    return modify(key, offset, TestBlobs.piece(change(base, offset, length)));
  }

  /** The same at its end. */
  protected ModifyObject.Builder append(String key, BlobRow base, long length) {
    return patch(key, base, base.getLength(), length).setAppend(true);
  }

  protected FoldBlob.Builder fold(BlobRow row, long revision) {
    return TestBlobs.fold(metadata, row, revision);
  }
}
