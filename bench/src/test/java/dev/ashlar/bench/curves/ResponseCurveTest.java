package dev.ashlar.bench.curves;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.bench.curves.ResponseCurve.Place;
import java.util.List;
import org.junit.jupiter.api.Test;

class ResponseCurveTest {
  /** A server that works on four at once: beyond, only latency rises. */
  @Test
  void theKneeIsWhereTheServerIsFull() {
    ResponseCurve curve =
        new ResponseCurve(
            List.of(
                new Place(1000, 1),
                new Place(2000, 1),
                new Place(4000, 1),
                new Place(4000, 2),
                new Place(4000, 4)));
    assertEquals(new Place(4000, 1), curve.knee());
    assertEquals(4000, curve.highest());
    assertEquals(new Place(2800, 1), curve.planned());
  }

  @Test
  void thePlanningPointLiesBetweenMeasuredOnes() {
    ResponseCurve curve =
        new ResponseCurve(List.of(new Place(500, 1), new Place(900, 3), new Place(1000, 9)));
    assertEquals(700, curve.planned().operationsPerSecond(), 1e-9);
    assertEquals(Math.sqrt(3), curve.planned().millis(), 1e-9);
  }

  @Test
  void aServerThatIsFullWithOneRequestIsPlannedAtIt() {
    ResponseCurve curve = new ResponseCurve(List.of(new Place(900, 1), new Place(1000, 5)));
    assertEquals(new Place(900, 1), curve.planned());
  }
}
