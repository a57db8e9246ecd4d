package dev.ashlar.protocol.client;

import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.BlobId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Blobs of a level of debts, by id. Few may be found among many, so there can be fewer than were
 * asked for, or none, though more follow.
 *
 * @param next after which to go on; null: no more follow
 */
public record DebtsPage(List<BlobRow> blobs, @Nullable BlobId next) {
  public DebtsPage {
    blobs = List.copyOf(blobs);
  }
}
