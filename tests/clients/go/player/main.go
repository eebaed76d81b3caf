// Command play opens a match through the client that openapi-generator makes for Go. It plays a deal with a knock,
// follows the match meanwhile until the deal is scored, and reads the protocol: play <address>.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"os"

	knacka "github.com/GIT_USER_ID/GIT_REPO_ID"
)

// ACTS is the upper limit of acts in a deal.
const ACTS = 500

type table struct {
	client *knacka.APIClient
	match  string
	seats  []context.Context
}

func main() {
	made := open(os.Args[1])
	followed := make(chan []int32)
	go func() { followed <- made.follow() }()
	acts, cards := made.play()
	if seen := <-followed; len(seen) != len(cards) {
		panic(fmt.Sprintf("%d cards were played and %d followed", len(cards), len(seen)))
	}
	protocol, _, err := made.client.BooksAPI.GetProtocol(context.Background(), made.match).Execute()
	lines := given(protocol, err).Lines
	if len(lines) != 1 || lines[0].Deal != 1 {
		panic("the protocol has no line of the deal")
	}
	fmt.Printf("  rodskagg-kortoxen: %d acts, %d cards, 1 knock\n", acts, len(cards))
}

// given returns an answer. An error, for example a problem, ends the program.
func given[T any](answer T, err error) T {
	if err != nil {
		panic(fmt.Sprint(err, problem(err)))
	}
	return answer
}

// problem returns the problem that an error carries, or nil.
func problem(err error) *knacka.Problem {
	var failure *knacka.GenericOpenAPIError
	if errors.As(err, &failure) {
		if problem, is := failure.Model().(knacka.Problem); is {
			return &problem
		}
	}
	return nil
}

func open(address string) table {
	settings := knacka.NewConfiguration()
	settings.Servers[0].URL = address
	client := knacka.NewAPIClient(settings)
	var players []knacka.Player
	for _, name := range []string{"Anna", "Bo", "Cecilia"} {
		players = append(players, knacka.Player{Name: &name})
	}
	opening := knacka.NewRodskaggKortoxenOpenMatch("rodskagg-kortoxen", players)
	opening.SetEnforcement(knacka.PENALISE)
	opening.SetOptions(knacka.RodskaggKortoxenOptions{DealRitual: new(bool)})
	sent := client.MatchesAPI.OpenMatch(context.Background()).OpenMatch(
		knacka.RodskaggKortoxenOpenMatchAsOpenMatch(opening))
	answer, _, err := sent.Execute()
	made := given(answer, err)
	result := table{client: client, match: made.Id}
	for _, seat := range made.Seats {
		token := context.WithValue(context.Background(), knacka.ContextAccessToken, seat.GetToken())
		result.seats = append(result.seats, token)
	}
	return result
}

// play makes random legal acts until the deal is scored. It returns the number of acts, and the events that play a card.
func (made table) play() (acts int, cards []int32) {
	for acts < ACTS {
		answer, _, err := made.client.MatchesAPI.GetMatch(context.Background(), made.match).Execute()
		seen := given(answer, err)
		done := made.act(seen.ToAct[0], seen.Version)
		acts++
		for _, event := range done.Events {
			if event.Event.CardPlayed != nil {
				cards = append(cards, event.Number)
				if len(cards) == 1 {
					made.knock()
				}
			}
			if event.Event.DealScored != nil {
				return acts, cards
			}
		}
	}
	panic("the deal does not end")
}

// act makes a random legal act of a seat, first with a wrong token.
func (made table) act(seat, version int32) *knacka.ActDone {
	api := made.client.MatchesAPI
	answer, _, err := api.ListLegalActs(made.seats[seat], made.match).Seat(seat).Execute()
	legal := given(answer, err)
	act := legal[given(rand.Int(rand.Reader, big.NewInt(int64(len(legal))))).Int64()]
	other := made.seats[(int(seat)+1)%len(made.seats)]
	_, refused, err := api.SendAct(other, made.match).Act(act).Execute()
	if refused.StatusCode != http.StatusForbidden || problem(err).Type != knacka.PROBLEMS_NOT_YOUR_SEAT {
		panic(fmt.Sprint("a different seat may act: ", err))
	}
	sent := api.SendAct(made.seats[seat], made.match).Act(act)
	done, _, err := sent.IdempotencyKey(key()).IfMatch(fmt.Sprintf("%q", fmt.Sprint(version))).Execute()
	return given(done, err)
}

// key returns random hex digits.
func key() string {
	random := make([]byte, 16)
	given(rand.Read(random))
	return hex.EncodeToString(random)
}

// knock accuses a player who did nothing wrong.
func (made table) knock() {
	seat, accused, offence := int32(0), int32(1), knacka.KNOCKED_REVOKE
	knock := knacka.Knock{Seat: &seat, Accused: &accused, Offence: &offence}
	answer, _, err := made.client.KnocksAPI.SendKnock(made.seats[0], made.match).Knock(knock).Execute()
	if ruled := given(answer, err); ruled.Verdict != knacka.VERDICT_DISMISSED {
		panic("the knock has the verdict " + ruled.Verdict)
	}
}

// follow waits for events until the deal is scored. It returns the numbers of those that play a card.
func (made table) follow() (cards []int32) {
	for after := int32(0); ; {
		answer, _, err := made.client.EventsAPI.ListEvents(context.Background(), made.match).After(after).Wait(25).Execute()
		for _, event := range given(answer, err).Events {
			after++
			if event.Event.CardPlayed != nil {
				cards = append(cards, event.Number)
			}
			if event.Event.DealScored != nil {
				return cards
			}
		}
	}
}
