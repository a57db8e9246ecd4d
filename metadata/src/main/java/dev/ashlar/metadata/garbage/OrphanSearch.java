package dev.ashlar.metadata.garbage;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.model.BlobId;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Told ids of blobs one by one, keeps those that metadata does not know. */
final class OrphanSearch implements Consumer<BlobId> {
  private final MetadataClient metadata;
  private final List<BlobId> unasked = new ArrayList<>();
  private final List<BlobId> orphans = new ArrayList<>();
  private @Nullable MetadataUnavailableException failure;

  OrphanSearch(MetadataClient metadata) {
    this.metadata = metadata;
  }

  @Override
  public void accept(BlobId id) {
    if (failure == null && !Thread.currentThread().isInterrupted()) {
      unasked.add(id);
      if (unasked.size() == GarbageCollector.SWEEP_BATCH) {
        ask();
      }
    }
  }

  private void ask() {
    try {
      Set<BlobId> known = metadata.known(unasked);
      unasked.stream().filter(id -> !known.contains(id)).forEach(orphans::add);
      unasked.clear();
    } catch (MetadataUnavailableException e) {
      failure = e;
    }
  }

  List<BlobId> orphans() throws MetadataUnavailableException {
    if (failure == null) {
      ask();
    }
    if (failure != null) {
      throw failure;
    }
    return orphans;
  }
}
