package dev.ashlar.gateway.operation;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.ObjectStore;
import dev.ashlar.blob.ObjectStore.DataSink;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.codec.checksum.Md5;
import dev.ashlar.codec.checksum.Md5Lanes;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.BlobIdValue;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectPiece;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.RequestOrigin;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacementMap;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Blobs in a map, handed out in pieces of slabs that have to come back. */
final class MemoryObjectStore implements ObjectStore {
  private static final int PIECE_BYTES = 16 << 10;

  final SlabPool slabs = new SlabPool();
  private final Md5Lanes md5s = new Md5Lanes();
  private final MetadataClient metadata;
  private final Map<BlobIdValue, byte[]> blobs = new HashMap<>();
  private long sequence;
  private @Nullable Reason writeFault;
  private @Nullable Reason readFault;
  private int readsBeforeFault;
  private int faultsLeft;
  private Runnable beforeRead = () -> {};
  private Runnable beforeCommit = () -> {};

  MemoryObjectStore(MetadataClient metadata) {
    this.metadata = metadata;
  }

  void failWrites(Reason reason) {
    writeFault = reason;
  }

  /** Fails so many reads, each after so many pieces. */
  void failReads(Reason reason, int afterPieces, int times) {
    readFault = reason;
    readsBeforeFault = afterPieces;
    faultsLeft = times;
  }

  void beforeRead(Runnable action) {
    beforeRead = action;
  }

  /** What happens once between the bytes of the next write and its command. */
  void beforeCommit(Runnable action) {
    beforeCommit = action;
  }

  /** The stored bytes of all blobs, which tests may damage. */
  Collection<byte[]> stored() {
    return blobs.values();
  }

  /** The stored bytes of a blob. */
  byte[] stored(BlobIdValue blob) {
    return Objects.requireNonNull(blobs.get(blob));
  }

  int blobCount() {
    return blobs.size();
  }

  @Override
  public ObjectWriter newWriter(int profile, long expectedLength) {
    return new Writer(profile);
  }

  @Override
  public ObjectWriter newWriter(long expectedLength) {
    return newWriter(metadata.placement().standardNumber(), expectedLength);
  }

  @Override
  public ObjectWriter newWriterWithoutMd5(int profile, long expectedLength) {
    return new Writer(profile);
  }

  @Override
  public Md5 newMd5() {
    return md5s.start();
  }

  @Override
  public ObjectChange newChange(ObjectRead object, long offset, long expectedLength) {
    return new Change(new Writer(profile(object)), object, offset);
  }

  /** That of the last blob; of an empty object that of its class. */
  private int profile(ObjectRead object) {
    PlacementMap map = metadata.placement();
    ObjectRecord record = object.object();
    int slices = record.getSlicesCount();
    return slices == 0
        ? map.ofClass(record.getSummary().getStorageClass()).orElse(map.standard()).number()
        : BlobId.of(record.getSlices(slices - 1).getBlob()).profile();
  }

  @Override
  public void read(ObjectRead object, ByteRange range, DataSink sink)
      throws DataUnavailableException, InterruptedException {
    beforeRead.run();
    boolean isFaulty = readFault != null && faultsLeft-- > 0;
    int pieces = 0;
    byte[] bytes = bytes(object, range);
    for (int from = 0; from < bytes.length || isFaulty; from += PIECE_BYTES) {
      if (isFaulty && pieces++ == readsBeforeFault) {
        throw new DataUnavailableException(Objects.requireNonNull(readFault), "as told");
      }
      int length = Math.min(PIECE_BYTES, bytes.length - from);
      Slab slab = slabs.acquire(length);
      sink.accept(new ShardData(slab, slab.slice(0, length).put(0, bytes, from, length)));
    }
  }

  private byte[] bytes(ObjectRead object, ByteRange range) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (SliceValue slice : object.object().getSlicesList()) {
      byte[] blob = Objects.requireNonNull(blobs.get(slice.getBlob()));
      all.write(blob, Math.toIntExact(slice.getOffset()), Math.toIntExact(slice.getLength()));
    }
    byte[] out = new byte[Math.toIntExact(range.length())];
    System.arraycopy(all.toByteArray(), Math.toIntExact(range.offset()), out, 0, out.length);
    return out;
  }

  /** New blobs in the place of the range. */
  private record Change(Writer writer, ObjectRead object, long offset) implements ObjectChange {
    @Override
    public void askedBy(RequestOrigin sender) {
      writer.origin = sender;
    }

    @Override
    public void write(ByteBuffer bytes) throws DataUnavailableException {
      writer.write(bytes);
    }

    @Override
    public long length() {
      return writer.length();
    }

    @Override
    public CommandResult commit(ModifyObject.Builder command) throws MetadataUnavailableException {
      return writer.commit(
          blobs -> {
            command
                .setExpectedVersion(object.object().getVersion())
                .setOffset(offset)
                .setLength(writer.length());
            blobs.forEach(blob -> command.addPieces(ObjectPiece.newBuilder().setBlob(blob)));
            return Command.newBuilder().setOrigin(writer.origin).setModifyObject(command);
          });
    }

    @Override
    public void close() {}
  }

  private final class Writer implements ObjectWriter {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final int profile;
    private RequestOrigin origin = RequestOrigin.getDefaultInstance();

    Writer(int profile) {
      this.profile = profile;
    }

    @Override
    public void write(ByteBuffer piece) throws DataUnavailableException {
      if (writeFault != null) {
        throw new DataUnavailableException(writeFault, "as told");
      }
      byte[] copy = new byte[piece.remaining()];
      piece.get(copy);
      bytes.writeBytes(copy);
    }

    @Override
    public long length() {
      return bytes.size();
    }

    @Override
    public byte[] md5() {
      return TestAuthenticator.digest("MD5", bytes.toByteArray()).toByteArray();
    }

    @Override
    public void finish() {}

    @Override
    public CommandResult commit(Function<List<NewBlob>, Command.Builder> command)
        throws MetadataUnavailableException {
      Runnable action = beforeCommit;
      beforeCommit = () -> {};
      action.run();
      List<NewBlob> written = new ArrayList<>();
      if (bytes.size() > 0) {
        NewBlob blob = describe(BlobId.of(metadata.session(), profile, sequence++), bytes.size());
        blobs.put(blob.getId(), bytes.toByteArray());
        written.add(blob);
      }
      CommandResult result = metadata.submit(command.apply(written));
      if (result.getCode() != ResultCode.OK) {
        written.forEach(blob -> blobs.remove(blob.getId()));
      }
      return result;
    }

    @Override
    public void close() {}

    private NewBlob describe(BlobId id, long length) {
      PlacementMap map = metadata.placement();
      int pg = map.group(id).orElseThrow();
      NewBlob.Builder blob =
          NewBlob.newBuilder()
              .setId(id.toMessage())
              .setLength(length)
              .setProfile(map.profile(pg).toMessage())
              .setPg(pg)
              .setEpoch(map.epoch());
      for (int slot = 0; slot < map.profile(pg).shards(); slot++) {
        UUID drive = map.drive(pg, slot);
        blob.addAcks(
            SlotAck.newBuilder()
                .setSlot(slot)
                .setDriveHigh(drive.getMostSignificantBits())
                .setDriveLow(drive.getLeastSignificantBits())
                .setIncarnation(
                    Objects.requireNonNull(metadata.drives().get(drive)).incarnation()));
      }
      return blob.build();
    }
  }
}
