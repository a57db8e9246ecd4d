package dev.ashlar.blob.simulation;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ForwardingShardStore;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Predicate;

/** A drive as an engine with a planted bug sees it. */
final class BuggyDrive extends ForwardingShardStore {
  private final PlantedBug bug;

  BuggyDrive(ShardStore drive, PlantedBug bug) {
    super(drive);
    this.bug = bug;
  }

  @Override
  public void write(ShardWrite write, Completion<DriveId> completion) {
    if (bug == PlantedBug.LOSES_WRITES && write.shard().blob().sequence() % 8 == 0) {
      completion.succeeded(drive());
    } else if (bug == PlantedBug.COUNTS_TOO_EARLY) {
      super.write(write, new Nobody());
      completion.succeeded(drive());
    } else {
      super.write(write, believing(completion, this::isWriteFailure));
    }
  }

  @Override
  public void prepare(ShardIntent intent, Completion<DriveId> completion) {
    boolean isLost =
        switch (intent) {
          case ShardIntent.Bytes bytes -> bug == PlantedBug.LOSES_CHANGES;
          case ShardIntent.Deltas deltas -> bug == PlantedBug.LOSES_DELTAS;
        };
    if (isLost) {
      completion.succeeded(drive());
    } else if (bug == PlantedBug.COUNTS_TOO_EARLY) {
      super.prepare(intent, new Nobody());
      completion.succeeded(drive());
    } else {
      super.prepare(intent, believing(completion, this::isWriteFailure));
    }
  }

  private boolean isWriteFailure(ShardFault fault) {
    return switch (fault) {
      case IO_ERROR, UNAVAILABLE -> bug == PlantedBug.FAILED_WRITES_COUNT;
      case FULL, READ_ONLY -> bug == PlantedBug.REFUSED_WRITES_COUNT;
      default -> false;
    };
  }

  @Override
  public void fold(List<FoldIntent> folds, Completion<DriveId> completion) {
    if (bug == PlantedBug.IGNORES_FOLDS) {
      completion.succeeded(drive());
    } else {
      super.fold(
          folds,
          believing(
              completion,
              fault -> bug == PlantedBug.MISSING_IS_FOLDED && fault == ShardFault.MISSING));
    }
  }

  @Override
  public void drop(List<DiscardIntent> drops, Completion<DriveId> completion) {
    if (bug == PlantedBug.IGNORES_DROPS) {
      completion.succeeded(drive());
    } else {
      super.drop(drops, completion);
    }
  }

  @Override
  public void delete(List<BlobId> blobs, Completion<DriveId> completion) {
    if (bug == PlantedBug.IGNORES_DELETES) {
      completion.succeeded(drive());
    } else {
      super.delete(blobs, completion);
    }
  }

  @Override
  public void read(
      ShardId shard, ShardView view, long offset, int length, Completion<ShardData> completion) {
    boolean isParity = shard.slot() > 1; // of the profiles with two data shards
    ShardView seen =
        bug == PlantedBug.READS_WITHOUT_CHANGES || (bug == PlantedBug.READS_OLD_PARITY && isParity)
            ? new ShardView(view.revision(), view.folded(), List.of())
            : view;
    super.read(shard, seen, offset, length, completion(completion));
  }

  private Completion<ShardData> completion(Completion<ShardData> completion) {
    if (bug != PlantedBug.READS_OTHER_BYTES) {
      return completion;
    }
    return new Completion<>() {
      @Override
      public void succeeded(ShardData data) {
        ByteBuffer bytes = data.bytes();
        int last = bytes.limit() - 1;
        bytes.put(last, (byte) (bytes.get(last) ^ (last % 7 == 0 ? 1 : 0)));
        completion.succeeded(data);
      }

      @Override
      public void failed(ShardException failure) {
        completion.failed(failure);
      }
    };
  }

  /** Takes such failures for successes. */
  private Completion<DriveId> believing(
      Completion<DriveId> completion, Predicate<ShardFault> isTakenForSuccess) {
    return new Completion<>() {
      @Override
      public void succeeded(DriveId drive) {
        completion.succeeded(drive);
      }

      @Override
      public void failed(ShardException failure) {
        if (isTakenForSuccess.test(failure.fault())) {
          completion.succeeded(drive());
        } else {
          completion.failed(failure);
        }
      }
    };
  }

  /** Does not listen. */
  private static final class Nobody implements Completion<DriveId> {
    @Override
    public void succeeded(DriveId drive) {}

    @Override
    public void failed(ShardException failure) {}
  }
}
