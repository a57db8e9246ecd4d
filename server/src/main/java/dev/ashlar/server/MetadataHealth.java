package dev.ashlar.server;

import dev.ashlar.metadata.consensus.FolderStatus;
import dev.ashlar.metadata.consensus.FolderStatus.Standing;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import jakarta.inject.Singleton;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.reactivestreams.Publisher;

/** Up while a majority of the metadata folders is whole; the details name those that are not. */
@Singleton
final class MetadataHealth implements HealthIndicator {
  private final Node node;

  MetadataHealth(Node node) {
    this.node = node;
  }

  @Override
  public Publisher<HealthResult> getResult() {
    List<FolderStatus> folders = node.metadataFolders();
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("folders", folders.size());
    int whole = 0;
    for (FolderStatus folder : folders) {
      if (folder.standing() == Standing.MEMBER) {
        whole++;
      } else {
        String text =
            folder.standing() == Standing.LEFT_OUT
                ? "left out: " + folder.reason()
                : "being rebuilt";
        details.put(folder.folder().toString(), text);
      }
    }
    details.put("whole", whole);
    boolean isMajority = whole > folders.size() / 2;
    return Publishers.just(
        HealthResult.builder("metadata", isMajority ? HealthStatus.UP : HealthStatus.DOWN)
            .details(details)
            .build());
  }
}
